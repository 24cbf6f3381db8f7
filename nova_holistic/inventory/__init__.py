# SPDX-License-Identifier: Apache-2.0
"""Sources of snapshots: one driver per file, found by its entry point."""

from nova_holistic.inventory.base import InventoryDriver
from nova_holistic import plugins

NAMESPACE = 'nova_holistic.inventory'


def load_inventory(conf, **adapters) -> InventoryDriver:
    """The driver of ``[inventory] driver``, with its options.

    :param adapters: keystoneauth Adapters with admin rights, by name of the
        service: ``placement``, ``compute`` and ``image``
    :raises UnknownPlugin: no driver of that name is installed
    :raises HolisticError: the options of the driver are invalid
    """
    driver = plugins.load(NAMESPACE, conf.inventory.driver,
                          '[inventory] driver')
    return driver.from_conf(conf, **adapters)
