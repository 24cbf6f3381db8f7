# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template``: split a Heat template with groups into a group
document and a plain template whose servers have pointers to their members."""

import argparse

from cliff import command

from nova_holistic.cli import parameters


class Template(command.Command):
    """Split a Heat template with groups into a group and a template.

    Writes NAME-group.yaml, the definition of the group, and
    NAME-template.yaml, for a stack that is created after the group. Its
    parameter holistic_group takes the UUID of the group. For each nested
    template with servers, NAME-NESTED.yaml is written as well.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('template', metavar='FILE',
                            help='Heat template with groups')
        parser.add_argument(
            '-o', '--output-dir', default='.', metavar='DIRECTORY',
            help='folder for the files; created if it does not exist '
                 '(default: the current one)')
        parameters.add_option(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        # Imported here so that --help starts without the JSON schemas.
        from nova_holistic.cli import template_work
        return template_work.split(args, self.app.stdin, self.app.stdout)
