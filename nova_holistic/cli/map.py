# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic map``: a plan on its inventory, drawn into a file."""

import argparse
import pathlib

from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli import exits, parameters
from nova_holistic import exceptions

SUFFIXES = ('.svg', '.html', '.png')
"""Formats of the picture, which the name of the file selects."""


class Map(DocumentCommand):
    """Draw a plan: the topology as nested boxes, with load and members.

    Exit code: 0 if the picture is written, 1 if the plan violates the group of
    --group, 2 for bad input or usage. The picture marks the violations, and
    the command prints one line for each of them.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('plan', metavar='PLAN', help='plan document')
        parser.add_argument(
            '-o', '--output', required=True, metavar='FILE',
            help='picture to write: ' + ', '.join(SUFFIXES))
        parser.add_argument(
            '--group', metavar='GROUP',
            help='group document or Heat template; with it, the picture also '
                 'shows what the plan adds to the load of hosts and which '
                 'policies it violates')
        parameters.add_option(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        # Imported here so that --help starts without the policies.
        from nova_holistic.cli import files, violations
        from nova_holistic.model.storage_pools import with_pools
        from nova_holistic.picture.formats import FORMATS
        from nova_holistic.picture.scene import scene
        draw = FORMATS.get(pathlib.PurePath(args.output).suffix.lower())
        if draw is None:
            raise exceptions.HolisticError(
                f'{args.output}: the name must end in one of '
                + ', '.join(SUFFIXES))
        read = self.files()
        plan = read.plan(args.plan)
        snapshot = read.inventory(args.inventory)
        if {pool.name for pool in snapshot.pools}.intersection(
                plan.hosts().values()):
            snapshot = with_pools(snapshot)
        group, violated = None, ()
        if args.group is not None:
            group = read.bound(args.group, read.group(
                args.group, args.parameters, args.environments), snapshot)
            violated = violations.find(group, snapshot, plan)
        with read.with_file_name(args.plan):
            view = scene(snapshot, plan, group, violations=violated)
        files.write(args.output, draw(view))
        violations.write(violated, self.app.stdout)
        return exits.BROKEN if violated else exits.GOOD
