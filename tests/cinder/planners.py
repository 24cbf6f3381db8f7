# SPDX-License-Identifier: Apache-2.0
"""A planner that reads the pools of a real Cinder."""

from oslo_config import cfg

from nova_holistic.cli.components import engine_components
from nova_holistic import conf as options
from nova_holistic.conf import services
from tests.cinder.test_pools import CONFIGURATION, INVENTORY, LOCATIONS


def planner_of(cinder, tmp_path, table):
    """The planner of a process whose configuration has [cinder]."""
    (tmp_path / 'inventory.yaml').write_text(INVENTORY)
    (tmp_path / 'topology.yaml').write_text(LOCATIONS)
    (tmp_path / 'nova-holistic.conf').write_text(CONFIGURATION.format(
        directory=tmp_path, endpoint=cinder.url, token=cinder.token))
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    services.register_opts(conf)
    conf(['--config-file', str(tmp_path / 'nova-holistic.conf')],
         project='nova-holistic')
    return engine_components.planner(conf, table)
