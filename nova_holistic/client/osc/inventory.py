# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic inventory ...``"""

import argparse
import json

from osc_lib.command import command

from nova_holistic.cli import files
from nova_holistic.client.osc import cloud_snapshot
from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.documents.inventories.writer import inventory_document


class ExportInventory(HolisticCommand, command.Command):
    """Write the inventory document of the cloud in its current state (admin
    only).

    "nova-holistic plan", "check" and "map" read this document.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-o', '--output', metavar='<file>',
            help='JSON file to write (default: standard output)')
        parser.add_argument(
            '--pools', action='store_true',
            help='Include the storage pools of Cinder')
        cloud_snapshot.add_levels(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        text = json.dumps(inventory_document(cloud_snapshot.snapshot(
            self.app.client_manager, parsed_args.levels,
            parsed_args.pools)), indent=1) + '\n'
        if parsed_args.output is None:
            self.app.stdout.write(text)
        else:
            files.write(parsed_args.output, text.encode())
