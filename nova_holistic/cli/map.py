# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic map``: a plan on its inventory, drawn into a file."""

import argparse
import pathlib

from nova_holistic.cli.command import DocumentCommand
from nova_holistic.cli import exits, files, parameters
from nova_holistic.cli.files import blaming
from nova_holistic import exceptions
from nova_holistic.model.binding import bind
from nova_holistic.picture.formats import FORMATS
from nova_holistic.picture.scene import scene


class Map(DocumentCommand):
    """Draw a plan: the topology as nested boxes, with load and members."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('plan', metavar='PLAN', help='plan document')
        parser.add_argument(
            '-o', '--output', required=True, metavar='FILE',
            help='picture to write: ' + ', '.join(FORMATS))
        parser.add_argument(
            '--group', metavar='GROUP',
            help='group document or Heat template; with it, hosts also show '
                 'what the plan adds to their load')
        parameters.add_option(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        draw = FORMATS.get(pathlib.PurePath(args.output).suffix.lower())
        if draw is None:
            raise exceptions.HolisticError(
                f'{args.output}: the name has to end in '
                + ', '.join(FORMATS))
        read = self.files()
        plan = read.plan(args.plan)
        snapshot = read.inventory(args.inventory)
        group = None
        if args.group is not None:
            group = read.group(args.group, args.parameters)
            with blaming(args.group):
                group = bind(group, snapshot)
        with blaming(args.plan):
            view = scene(snapshot, plan, group)
        files.write(args.output, draw(view))
        return exits.GOOD
