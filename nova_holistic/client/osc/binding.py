# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group bind``, ``unbind`` and ``binding list``"""

import argparse
from typing import Any
from uuid import UUID

from osc_lib.clientmanager import ClientManager
from osc_lib.command import command

from nova_holistic.client.osc.command import BadInput, HolisticCommand
from nova_holistic.client.osc import formatted_columns
from nova_holistic.client.osc.group import with_group
from nova_holistic.client.osc.nova_lookup import NovaLookup


class BindGroup(HolisticCommand, command.ShowOne):
    """Bind a server group of Nova, or a Heat stack, to members of a group.

    A server that is created with the hint group=<server-group> and without a
    pointer then gets a planned place of the member. A server of the Heat
    stack gets a place of the member that the first matching rule names.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'member', metavar='<group>[/<path>]',
            help='Name or ID of the group, and the path of a member. A path '
                 'with one member inside, or a group with one member, stands '
                 'for that member. Use the ID of a group whose name contains '
                 'a slash')
        parser.add_argument(
            '--rule', metavar='<resource>[=<member>]', action='append',
            type=_rule, default=[], dest='rules',
            help='Resources of the Heat stack, from the top-level stack down '
                 'to the server, joined by slashes, and the path of a member '
                 'below <path>. A * is any one name, and a * in <member> is '
                 'replaced by this name. Without <member>, the servers are '
                 'those of <path>. Repeat the option for more rules')
        return _with_target(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group, _, path = parsed_args.member.partition('/')
        stack, rules = parsed_args.heat_stack, parsed_args.rules
        if bool(stack) != bool(rules):
            raise BadInput(
                '--heat-stack and --rule must be given together')
        target = _target(self.app.client_manager, parsed_args)
        uuid, groups = self.group(group)['id'], self.client().groups
        return formatted_columns.fields(
            groups.bind_stack(uuid, stack, rules, path) if stack
            else groups.bind(uuid, target, path), formatted_columns.BINDINGS)


class UnbindGroup(HolisticCommand, command.Command):
    """End the binding of a server group or of a Heat stack

    Servers are not affected.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _with_target(with_group(super().get_parser(prog_name)))

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.client().groups.unbind(
            self.group(parsed_args.group)['id'],
            _target(self.app.client_manager, parsed_args))


class ListBinding(HolisticCommand, command.Lister):
    """List what is bound to members of a group"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return with_group(super().get_parser(prog_name))

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        return formatted_columns.rows(self.client().groups.bindings(
            self.group(parsed_args.group)['id']), formatted_columns.BINDINGS)


def _with_target(
        parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument('server_group', metavar='<server-group>', nargs='?',
                       help='Name or ID of the server group of Nova')
    which.add_argument('--heat-stack', metavar='<stack>',
                       help='Name or ID of a top-level stack of Heat, which '
                            'need not exist yet')
    return parser


def _rule(text: str) -> dict[str, str]:
    resource, _, member = text.partition('=')
    if not resource:
        raise argparse.ArgumentTypeError(f'no resource in {text!r}')
    return {'resource': resource, **({'member': member} if member else {})}


def _target(manager: ClientManager, args: argparse.Namespace) -> str:
    return args.heat_stack or _server_group(manager, args.server_group)


def _server_group(manager: ClientManager, name_or_id: str) -> str:
    """The UUID of a server group.

    :raises BadInput: no server group has the name, or more than one
    """
    try:
        # A server group that was deleted can still be unbound.
        return str(UUID(name_or_id))
    except ValueError:
        pass
    return NovaLookup(manager).server_group_id(name_or_id)
