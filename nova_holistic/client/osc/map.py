# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group map``: a group on the cloud as it is now."""

import argparse
import pathlib

from keystoneauth1.adapter import Adapter
from osc_lib.command import command
from osc_lib import exceptions
from oslo_config import cfg

from nova_holistic.cli import files
from nova_holistic.client.live import standing
from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc.group import with_group
from nova_holistic import conf as options
from nova_holistic.inventory import load_inventory
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.picture.formats import FORMATS
from nova_holistic.picture.scene import scene


class MapGroup(HolisticCommand, command.Command):
    """Draw a group on the cloud as it is now (admin only)"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            '-o', '--output', required=True, metavar='<file>',
            help='Picture to write: ' + ', '.join(FORMATS))
        parser.add_argument(
            '--levels', metavar='<level>,...', default='az,host',
            help='Of the topology, coarse to fine, as in [topology] levels '
                 '(default: %(default)s)')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        draw = FORMATS.get(pathlib.PurePath(
            parsed_args.output).suffix.lower())
        if draw is None:
            raise exceptions.CommandError(
                f'{parsed_args.output}: the name has to end in '
                + ', '.join(FORMATS))
        group = self.group(parsed_args.group)
        placements = self.client().groups.placements(group['id'])
        if any('host' not in p for p in placements):
            raise exceptions.CommandError(
                'where members are is for admins to see')
        snapshot = self._snapshot(parsed_args.levels.split(','))
        plan, definition, without = standing(group, placements, snapshot)
        files.write(parsed_args.output,
                    draw(scene(without, plan, definition)))

    def _snapshot(self, levels: list[str]) -> Snapshot:
        """The cloud, read with the rights of whoever asks."""
        manager = self.app.client_manager
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        conf.set_override('levels', levels, 'topology')
        adapters = {name: Adapter(
            manager.session, service_type=name, interface=manager.interface,
            region_name=manager.region_name)
            for name in ('placement', 'compute')}
        return load_inventory(conf, **adapters).snapshot()
