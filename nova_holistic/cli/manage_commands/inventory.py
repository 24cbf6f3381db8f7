# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage inventory``: the live cloud as a document."""

import argparse
import json

import yaml

from nova_holistic.cli.manage_commands.command import Command, CommandResult


def export(conf) -> CommandResult:
    """write the inventory document of the live cloud, which nova-holistic
    plan, check and map read; with Cinder's storage pools if [cinder] is
    configured"""
    from nova_holistic.cli.components.connections import (
        connect, connect_if_configured)
    from nova_holistic.documents.inventories.writer import inventory_document
    from nova_holistic.inventory.cinder.default_type import (
        with_default_volume_type)
    from nova_holistic.inventory.cinder.pools import with_cinder_pools
    from nova_holistic.inventory import load_inventory
    from nova_holistic.topology import load_topology
    snapshot = load_inventory(
        conf, placement=connect(conf, 'placement'),
        compute=connect(conf, 'nova')).snapshot()
    cinder = connect_if_configured(conf, 'cinder')
    if cinder is not None:
        snapshot = with_default_volume_type(
            with_cinder_pools(snapshot, cinder, load_topology(conf)), cinder)
    document = inventory_document(snapshot)
    if conf.command.format == 'yaml':
        return CommandResult(yaml.safe_dump(document,
                                            sort_keys=False).rstrip())
    return CommandResult(json.dumps(document, indent=1))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--format', choices=('json', 'yaml'), default='json',
        help='format of the document (default: %(default)s, which is read '
             'faster)')


COMMANDS = {('inventory', 'export'): Command(
    export, _arguments, any_schema=True)}
