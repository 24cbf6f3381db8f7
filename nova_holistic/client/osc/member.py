# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic member ...``"""

import argparse
from typing import Any

from osc_lib.cli import parseractions
from osc_lib.command import command

from nova_holistic.client import clouds
from nova_holistic.client.osc.command import BadInput, HolisticCommand
from nova_holistic.client.osc import formatted_columns, progress
from nova_holistic.client.osc.group import WaitingCommand, with_group
from nova_holistic.documents.source.json_text import load_json, MAX_DIGITS
from nova_holistic.exceptions import InvalidDocument


class ListMember(HolisticCommand, command.Lister):
    """List the members of a group; admins also see their hosts and pools"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return with_group(super().get_parser(prog_name))

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        found = clouds.members(
            self.client(), self.group(parsed_args.group)['id'])
        return formatted_columns.rows(found, formatted_columns.MEMBERS)


class AddMember(WaitingCommand, command.ShowOne):
    """Add a member to a group, or more servers to a counted member.

    A new member needs --flavor, --resource or --description. To add servers
    to an existing counted member, the path is enough.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            'path', metavar='<path>',
            help='Path of the member: the names of its nested groups and its '
                 'own name, joined by /')
        size = parser.add_mutually_exclusive_group()
        size.add_argument('--flavor', metavar='<flavor>',
                          help='Name or ID of the Nova flavor')
        size.add_argument(
            '--resource', metavar='<class>=<amount>', dest='resources',
            action=parseractions.KeyValueAction,
            help='Amount of a resource class; repeat the option for further '
                 'classes')
        size.add_argument(
            '--description', metavar='<json>', type=_object,
            help='Member description as a JSON object, without its name')
        parser.add_argument(
            '--count', metavar='<number>', type=int,
            help='Number of servers; for an existing member, the number of '
                 'servers to add')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        inside, _, name = parsed_args.path.rpartition('/')
        description = {**(parsed_args.description or {}), 'name': name}
        if parsed_args.flavor is not None:
            description['flavor'] = parsed_args.flavor
        if parsed_args.resources is not None:
            description['resources'] = {
                key: _amount(value)
                for key, value in parsed_args.resources.items()}
        if parsed_args.count is not None:
            description['count'] = parsed_args.count
        if inside:
            description['group'] = inside
        before = self.group(parsed_args.group)
        group = self.client().groups.add_members(
            before['id'], [description])
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


class ScaleMember(WaitingCommand, command.ShowOne):
    """Change the numbers of servers of a member, or of replicas of a group

    The member or group needs a count. Numbers that are not named remain
    unchanged, or follow the desired number as far as necessary.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            'path', metavar='<path>',
            help='Path of the counted member or of the nested group')
        for name, text in (
                ('min', 'Smallest number with which the group is planned'),
                ('desired', 'Number that is planned, and held again when a '
                            'server is deleted'),
                ('max', 'Largest number that creates can reach')):
            parser.add_argument(f'--{name}', metavar='<number>', type=int,
                                help=text)
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        numbers = {name: value for name in ('min', 'desired', 'max')
                   if (value := getattr(parsed_args, name)) is not None}
        if not numbers:
            raise BadInput(
                'At least one of --min, --desired and --max is required')
        inside, _, name = parsed_args.path.rpartition('/')
        description = {'name': name, 'count': numbers,
                       **({'group': inside} if inside else {})}
        before = self.group(parsed_args.group)
        if not _has(before['definition'], inside, name):
            raise BadInput(
                f'group {parsed_args.group} has no member or nested group '
                f'{parsed_args.path!r}')
        group = self.client().groups.add_members(
            before['id'], [description])
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


class RemoveMember(WaitingCommand, command.ShowOne):
    """Remove a member from a group; the server of the member is not
    affected"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument('path', metavar='<path>', help='Path of the '
                                                           'member')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        before = self.group(parsed_args.group)
        group = self.client().groups.remove_member(
            before['id'], parsed_args.path)
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


def _has(definition: dict[str, Any], inside: str, name: str) -> bool:
    """Whether a definition has a member or a nested group.

    :param inside: path of the nested group around it
    """
    groups = [definition]
    for nested in filter(None, inside.split('/')):
        groups = [each for group in groups for each in group.get('groups', ())
                  if each['name'] == nested]
    return any(each['name'] == name for group in groups
               for each in (*group.get('members', ()),
                            *group.get('groups', ())))


def _object(text: str) -> dict[str, Any]:
    try:
        value = load_json(text)
    except InvalidDocument as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('not a JSON object')
    return value


def _amount(text: str) -> int | str:
    """The API refuses an invalid number and names its position."""
    is_number = text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if is_number else text
