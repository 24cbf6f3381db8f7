# SPDX-License-Identifier: Apache-2.0
"""Commands for existing servers as members of groups."""

import argparse
from typing import Any

from osc_lib.command import command

from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc import formatted_columns, progress
from nova_holistic.client.osc.group import (
    add_strict, WaitingCommand, with_group)
from nova_holistic.client.osc.nova_lookup import NovaLookup
from nova_holistic.client import server_group


class AdoptGroup(WaitingCommand, command.ShowOne):
    """Let an existing server become a member of a group.

    The server stays on its host. It has to belong to the project of the group
    and to match the description of the member.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            'path', metavar='<path>',
            help='Path of the member; of a counted member, the path of one '
                 'of its servers, such as node-0')
        parser.add_argument('server', metavar='<server>',
                            help='Name or ID of the server')
        add_strict(parser)
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        before = self.group(parsed_args.group)
        server = NovaLookup(self.app.client_manager).server(parsed_args.server)
        group = self.client().groups.adopt(
            before['id'], {parsed_args.path: server['id']},
            strict=parsed_args.strict)
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


class ImportGroup(WaitingCommand, command.ShowOne):
    """Create a group from a server group of Nova, with its servers and its
    policy.

    Servers of the same flavor become the servers of one counted member with
    the name of the flavor. The server group continues to exist.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('server_group', metavar='<server-group>',
                            help='Name or ID of the server group')
        parser.add_argument(
            '--name', metavar='<name>',
            help='Name of the group (default: the name of the server group)')
        parser.add_argument(
            '--lease', metavar='<seconds>', type=int,
            help='Seconds after which unused holds expire; 0 means no lease')
        add_strict(parser)
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        compute = NovaLookup(self.app.client_manager)
        from_nova = compute.server_group(parsed_args.server_group)
        group = self.client().groups.create(
            server_group.document(
                from_nova,
                [compute.server(uuid) for uuid in from_nova['members']],
                parsed_args.name),
            lease=parsed_args.lease, strict=parsed_args.strict)
        return formatted_columns.fields(self.settled(group, parsed_args),
                                        formatted_columns.GROUP)


class DetachMember(HolisticCommand, command.ShowOne):
    """Take a server out of its group without deleting the server

    The place of the member is released.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument('path', metavar='<path>',
                            help='Path of the member')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group = self.client().groups.detach(
            self.group(parsed_args.group)['id'], parsed_args.path)
        return formatted_columns.fields(group, formatted_columns.GROUP)
