# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template``: a Heat template with groups gives a group
document, and a plain template whose servers point at their places."""

import argparse

from cliff import command

from nova_holistic.cli import parameters


class Template(command.Command):
    """Split a Heat template with groups in two.

    Writes NAME-group.yaml, to create the group from, and NAME-template.yaml,
    to create the stack from once the group is there, with its UUID as
    parameter holistic_group.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('template', metavar='FILE',
                            help='Heat template with groups')
        parser.add_argument(
            '-o', '--output-dir', default='.', metavar='DIRECTORY',
            help='where to write both files; made where it is missing '
                 '(default: the current one)')
        parameters.add_option(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        # Imported here, so that --help starts without the JSON schemas.
        from nova_holistic.cli import template_work
        return template_work.split(args, self.app.stdin, self.app.stdout)
