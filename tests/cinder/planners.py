# SPDX-License-Identifier: Apache-2.0
"""A planner that reads the pools of a real Cinder."""

from oslo_config import cfg
from oslo_utils import timeutils

from nova_holistic.cli.components.connections import connect
from nova_holistic.cli.components import engine_components
from nova_holistic import conf as options
from nova_holistic.conf import services
from nova_holistic.engine.planner import Planner
from tests.cinder.test_pools import CONFIGURATION, INVENTORY, LOCATIONS


class NoHolds:
    """Takes the place of HoldClient. Placement does not run here."""

    def put(self, members, *words, **keys):
        pass

    def drop(self, holds, *words, **keys):
        pass


def planner_of(cinder, tmp_path, table):
    """The planner of a process whose configuration has [cinder]."""
    return engine_components.planner(_conf(cinder, tmp_path), table)


def creator_of(cinder, tmp_path, table):
    """As ``planner_of``; it also creates groups, without holds of servers."""
    conf = _conf(cinder, tmp_path)
    return Planner(conf, engine_components.planning_inventory(
        conf, connect(conf, 'placement'), connect(conf, 'nova')), table,
        NoHolds(), timeutils.utcnow)


def _conf(cinder, tmp_path):
    (tmp_path / 'inventory.yaml').write_text(INVENTORY)
    (tmp_path / 'topology.yaml').write_text(LOCATIONS)
    (tmp_path / 'nova-holistic.conf').write_text(CONFIGURATION.format(
        directory=tmp_path, endpoint=cinder.url, token=cinder.token))
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    services.register_opts(conf)
    conf(['--config-file', str(tmp_path / 'nova-holistic.conf')],
         project='nova-holistic')
    return conf
