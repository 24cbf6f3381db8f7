# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group bind``, ``unbind`` and ``binding list``"""

import argparse
from typing import Any
import uuid

from keystoneauth1.adapter import Adapter
from osc_lib.clientmanager import ClientManager
from osc_lib.command import command
from osc_lib import exceptions

from nova_holistic.client.osc.command import HolisticCommand
from nova_holistic.client.osc.group import with_group
from nova_holistic.client.osc import shown


class BindGroup(HolisticCommand, command.ShowOne):
    """Bind a server group of Nova to a member of a group.

    A server that is created with the hint group=<server-group> and without a
    pointer then gets a planned place of the member.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'member', metavar='<group>[/<path>]',
            help='Name or ID of the group, and the path of a member. A path '
                 'with one member inside, or a group with one member, stands '
                 'for that member. Use the ID of a group whose name contains '
                 'a slash')
        return _with_server_group(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group, _, path = parsed_args.member.partition('/')
        return shown.fields(self.client().groups.bind(
            self.group(group)['id'],
            _server_group(self.app.client_manager, parsed_args.server_group),
            path), shown.BINDINGS)


class UnbindGroup(HolisticCommand, command.Command):
    """End the binding of a server group; its servers are not affected"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _with_server_group(with_group(super().get_parser(prog_name)))

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.client().groups.unbind(
            self.group(parsed_args.group)['id'],
            _server_group(self.app.client_manager, parsed_args.server_group))


class ListBinding(HolisticCommand, command.Lister):
    """List the server groups that are bound to members of a group"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return with_group(super().get_parser(prog_name))

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        return shown.rows(self.client().groups.bindings(
            self.group(parsed_args.group)['id']), shown.BINDINGS)


def _with_server_group(
        parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument('server_group', metavar='<server-group>',
                        help='Name or ID of the server group of Nova')
    return parser


def _server_group(manager: ClientManager, name_or_id: str) -> str:
    """The UUID of a server group.

    :raises CommandError: no server group has the name, or more than one
    """
    try:
        # A server group that was deleted can still be unbound.
        return str(uuid.UUID(name_or_id))
    except ValueError:
        pass
    found = [group['id'] for group in Adapter(
        manager.session, service_type='compute', interface=manager.interface,
        region_name=manager.region_name).get(
            '/os-server-groups').json()['server_groups']
        if group['name'] == name_or_id]
    if len(found) != 1:
        raise exceptions.CommandError(
            f'more than one server group is named {name_or_id!r}: use an ID '
            f'of {", ".join(found)}' if found else
            f'there is no server group {name_or_id}')
    return found[0]
