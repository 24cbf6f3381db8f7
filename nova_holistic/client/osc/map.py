# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group map``: a group on the cloud as it is now."""

import argparse
import pathlib
from typing import Any

from keystoneauth1.adapter import Adapter
from osc_lib.command import command
from osc_lib import exceptions
from oslo_config import cfg

from nova_holistic.cli import files
from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc.group import with_group
from nova_holistic import conf as options
from nova_holistic.documents.group import parse_group
from nova_holistic.inventory import load_inventory
from nova_holistic.model.plan import ObjectiveValue, Placement, Plan
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.objectives import load_objective
from nova_holistic.picture.formats import FORMATS
from nova_holistic.picture.scene import scene
from nova_holistic.policies import load_policy_types

_THERE = ('planned', 'claimed', 'built')
"""States of a member that takes up room at its place."""


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
        placements = [
            p for p in self.client().groups.placements(group['id'])
            if p['state'] in _THERE]
        if any('host' not in p for p in placements):
            raise exceptions.CommandError(
                'where members are is for admins to see')
        snapshot = self._snapshot(parsed_args.levels.split(','))
        definition = parse_group(
            {'group': group['definition']}, load_policy_types())
        view = scene(snapshot, _plan(group, placements, snapshot), definition,
                     placed=[m.path for m in definition.all_members()])
        files.write(parsed_args.output, draw(view))

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


def _plan(group: dict[str, Any], placements: list[dict[str, Any]],
          snapshot: Snapshot) -> Plan:
    """What is there, as a plan of which nothing is proved."""
    hosts = {host.name: host for host in snapshot.hosts}
    where = {p['member']: p for p in placements}
    definition = parse_group(
        {'group': group['definition']}, load_policy_types())
    objective = load_objective(group['objective']).for_group(definition)
    there = [m for m in definition.all_members() if m.path in where]
    value = objective.value(
        there, {m.path: hosts[where[m.path]['host']] for m in there}, {},
        snapshot)
    return Plan(
        group['name'],
        tuple(Placement(p['member'], p['host'], p['node'],
                        tuple(p['location'])) for p in placements),
        ObjectiveValue(group['objective'], value, float('-inf'),
                       float('inf')), (), {})
