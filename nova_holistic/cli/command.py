# SPDX-License-Identifier: Apache-2.0
"""The common part of the commands that read documents."""

import argparse
from typing import TYPE_CHECKING

from cliff import command

if TYPE_CHECKING:
    from nova_holistic.cli.files import Files


class DocumentCommand(command.Command):
    """A command on an inventory; ``-`` reads a document from stdin."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--inventory', required=True, metavar='INVENTORY',
            help='inventory document: hosts, their capacity and usage')
        return parser

    def files(self) -> 'Files':
        # Imported here so that --help starts without the JSON schemas.
        from nova_holistic.cli.files import Files
        return Files(self.app.stdin)
