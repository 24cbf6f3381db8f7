# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group map``: a group on the cloud in its current
state."""

import argparse
import pathlib

from osc_lib.command import command
from osc_lib import exceptions

from nova_holistic.cli import exits, files, violations
from nova_holistic.client.current_placement import current_plan
from nova_holistic.client.osc import cloud_snapshot
from nova_holistic.client.osc.command import BadInput, HolisticCommand
from nova_holistic.client.osc.group import with_group
from nova_holistic.picture.formats import FORMATS
from nova_holistic.picture.scene import scene
from nova_holistic.solver.check import broken_policies


class MapGroup(HolisticCommand, command.Command):
    """Draw a group on the cloud in its current state (admin only)

    Hosts whose servers violate a policy of the group are marked, and each
    violation is printed. The exit code is 1 if a policy is violated.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            '-o', '--output', required=True, metavar='<file>',
            help='Picture to write: ' + ', '.join(FORMATS))
        cloud_snapshot.add_levels(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        draw = FORMATS.get(pathlib.PurePath(
            parsed_args.output).suffix.lower())
        if draw is None:
            raise BadInput(
                f'{parsed_args.output}: the name must end in one of '
                + ', '.join(FORMATS))
        group = self.group(parsed_args.group)
        placements = self.client().groups.placements(group['id'])
        if any('host' not in p for p in placements):
            raise exceptions.CommandError(
                'the API shows the hosts of members to admins only')
        snapshot = cloud_snapshot.snapshot(self.app.client_manager,
                                           parsed_args.levels)
        plan, definition, without = current_plan(group, placements, snapshot)
        violated = broken_policies(definition, without, plan.hosts())
        files.write(parsed_args.output, draw(scene(
            without, plan, definition, violations=violated)))
        violations.write(violated, self.app.stdout)
        return exits.BROKEN if violated else exits.GOOD
