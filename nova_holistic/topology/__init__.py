# SPDX-License-Identifier: Apache-2.0
"""Locations of hosts: one driver per file, found by its entry point."""

from nova_holistic import plugins
from nova_holistic.topology.base import TopologyDriver

NAMESPACE = 'nova_holistic.topology'


def load_topology(conf) -> TopologyDriver:
    """The driver that ``[topology] driver`` names, made from its options.

    :raises UnknownPlugin: no driver of that name is installed
    :raises HolisticError: its options contradict each other
    """
    driver = plugins.load(NAMESPACE, conf.topology.driver,
                          '[topology] driver')
    return driver.from_conf(conf)
