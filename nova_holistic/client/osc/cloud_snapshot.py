# SPDX-License-Identifier: Apache-2.0
"""The current state of the cloud, read with the rights of the user."""

import argparse

from keystoneauth1.adapter import Adapter
from osc_lib.clientmanager import ClientManager
from oslo_config import cfg

from nova_holistic.client.osc.command import BadInput
from nova_holistic import conf as options
from nova_holistic.inventory.cinder.default_type import (
    with_default_volume_type)
from nova_holistic.inventory.cinder.pools import with_cinder_pools
from nova_holistic.inventory import load_inventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.topology.errors import InvalidLevels
from nova_holistic.topology.levels import check_levels
from nova_holistic.topology import load_topology


def add_levels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--levels', metavar='<level>,...', default='az,host',
        help='Levels of the topology, coarse to fine, as in [topology] levels '
             '(default: %(default)s)')


def snapshot(manager: ClientManager, levels: str,
             pools: bool = False) -> Snapshot:
    """
    :param levels: joined by commas
    :param pools: whether the storage pools of Cinder are read, too
    :raises BadInput: the levels are invalid
    :raises HolisticError: the cloud cannot be read with these rights
    """
    names = levels.split(',')
    try:
        check_levels(names)
    except InvalidLevels as error:
        raise BadInput(f'--levels {levels}: {error}') from error
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    conf.set_override('levels', names, 'topology')
    adapters = {name: Adapter(
        manager.session, service_type=name, interface=manager.interface,
        region_name=manager.region_name)
        for name in ('placement', 'compute', 'block-storage')}
    cinder = adapters.pop('block-storage')
    without_pools = load_inventory(conf, **adapters).snapshot()
    return with_default_volume_type(
        with_cinder_pools(without_pools, cinder, load_topology(conf)),
        cinder) if pools else without_pools
