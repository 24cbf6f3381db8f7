# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group ...``"""

import argparse
from typing import Any

from osc_lib.command import command
from osc_lib import exceptions

from nova_holistic.client import errors
from nova_holistic.client.osc import boot
from nova_holistic.client.osc.command import (
    BadInput, HolisticCommand, is_bad_input, UNPLACED)
from nova_holistic.client.osc.definition_file import DefinitionFile
from nova_holistic.client.osc import formatted_columns, progress
from nova_holistic.client.osc.missing_servers import is_smaller
from nova_holistic.exceptions import HolisticError


class WaitingCommand(HolisticCommand):
    """A command after which an engine works on the group."""

    def settled(self, group: dict[str, Any], args: argparse.Namespace,
                before: int | None = None) -> dict[str, Any]:
        """The group, after the requested wait.

        :param group: the answer to the request
        :param before: revision of the group before the request, 0 for a new
            group; None if the request does not change the definition
        :raises CommandError: the wait timed out, or no plan exists
        """
        if not args.wait:
            return group
        known = group['reasons']
        with (progress.timeout_as_error(f'group {group["id"]}'),
              progress.bar(group['name']) as report):
            group = self.client().groups.wait(
                group['id'], args.timeout, report)
        if group['status'] in UNPLACED or (
                group['reasons'] and not is_smaller(group, before, known)):
            raise change_failed(group)
        return group


class CreateGroup(WaitingCommand, command.ShowOne, DefinitionFile):
    """Create a group: plan all its members and hold their capacity"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--objective', metavar='<name>',
            help='Objective that the plan optimises')
        parser.add_argument(
            '--lease', metavar='<seconds>', type=int,
            help='Seconds after which unused holds expire; 0 means no lease')
        parser.add_argument(
            '--idempotency-key', metavar='<key>',
            help='Key of the request: a repeated request with the same key '
                 'returns the same group (default with --boot: the same key '
                 'for the same document)')
        boot.add_create_options(parser)
        add_strict(parser)
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        document = self.definition(parsed_args)
        request = {'lease': parsed_args.lease, 'strict': parsed_args.strict,
                   'objective': parsed_args.objective}
        key = boot.idempotency_key(parsed_args, document, request)
        try:
            group = self.client().groups.create(
                document, idempotency_key=key, **request)
        except errors.Refused as error:
            if not error.is_transient:
                raise
            raise exceptions.CommandError(
                f'{error}; the group may exist nevertheless: repeat the '
                f'command with --idempotency-key {key} to get that group '
                'instead of a second one') from error
        if parsed_args.boot:
            group = boot.Booting(self.client(), self.app.client_manager,
                                 parsed_args).boot_created(group)
        else:
            group = self.settled(group, parsed_args, 0)
        return formatted_columns.fields(group, formatted_columns.GROUP)


class ListGroup(HolisticCommand, command.Lister):
    """List groups"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--name', metavar='<name>',
                            help='List only groups with this name')
        parser.add_argument('--status', metavar='<status>',
                            help='List only groups with this status, for '
                                 'example planned or unplaceable')
        parser.add_argument(
            '--project-id', metavar='<project-id>',
            help='List the groups of another project (admin only)')
        parser.add_argument(
            '--all-projects', action='store_true', default=None,
            help='List the groups of all projects (admin only)')
        parser.add_argument('--long', action='store_true',
                            help='List more columns')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        filters = {name: value for name in (
            'name', 'status', 'project_id', 'all_projects')
            if (value := getattr(parsed_args, name)) is not None}
        groups = list(self.client().groups.list(**filters))
        return formatted_columns.rows(
            groups, formatted_columns.GROUP if parsed_args.long
            else formatted_columns.GROUPS)


class ShowGroup(HolisticCommand, command.ShowOne):
    """Show a group"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return with_group(super().get_parser(prog_name))

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group = self.client().groups.get_complete(
            self.group(parsed_args.group)['id'])
        return formatted_columns.fields(
            {'actions': (), **group},
            (*formatted_columns.GROUP, 'actions', 'definition'))


class SetGroup(WaitingCommand, command.ShowOne, DefinitionFile):
    """Update a group: built members keep their hosts, all others are planned
    again"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            '--objective', metavar='<name>',
            help='Objective that plans optimise from now on')
        parser.add_argument(
            '--revision', metavar='<number>', type=int,
            help='Revision on which the change is based (default: the newest)')
        add_strict(parser)
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        # If only the objective is given, the definition remains unchanged.
        document = None
        if parsed_args.file is not None or parsed_args.objective is None:
            document = self.definition(parsed_args)
        before = self.group(parsed_args.group)
        revision = parsed_args.revision
        group = self.client().groups.update(
            before['id'], document or before['definition'],
            before['revision'] if revision is None else revision,
            objective=parsed_args.objective, strict=parsed_args.strict)
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


class UnsetGroup(WaitingCommand, command.ShowOne):
    """Remove the policies or relationships of one type from a group"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        for name in ('policy', 'relationship'):
            parser.add_argument(
                f'--{name}', metavar='<type>', action='append', default=[],
                help=f'Type of a {name} of the top-level group; may be '
                     f'repeated')
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        if not parsed_args.policy and not parsed_args.relationship:
            raise BadInput(
                'nothing to unset: --policy or --relationship is required')
        before = self.group(parsed_args.group)
        document = dict(before['definition'])
        for key, types in (('policies', parsed_args.policy),
                           ('relationships', parsed_args.relationship)):
            for type_name in types:
                document[key] = _without(document.get(key, []), key, type_name)
        group = self.client().groups.update(
            before['id'], document, before['revision'])
        return formatted_columns.fields(
            self.settled(group, parsed_args, before['revision']),
            formatted_columns.GROUP)


class DeleteGroup(HolisticCommand, command.Command):
    """Delete groups; their servers are not affected"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('groups', metavar='<group>', nargs='+',
                            help='Name or ID of the group')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        failed = []
        for name in parsed_args.groups:
            try:
                self.client().groups.delete(self.group(name)['id'])
            except (HolisticError, exceptions.CommandError) as error:
                failed.append(error)
        if failed:
            kind = (BadInput if all(map(is_bad_input, failed))
                    else exceptions.CommandError)
            raise kind('; '.join(map(str, failed)))


class ReleaseGroup(HolisticCommand, command.Lister):
    """Free the capacity of planned members without servers"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            '--member', metavar='<path>', action='append',
            help='Path of a member, of a counted member for all its servers, '
                 'or of a nested group for all its members; may be repeated '
                 '(default: all members)')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        outcome = self.client().groups.release(
            self.group(parsed_args.group)['id'], parsed_args.member)
        return ('member', 'result'), [
            (path, effect) for effect in ('released', 'kept')
            for path in outcome[effect]]


class ExtendGroup(HolisticCommand, command.ShowOne):
    """Extend the lease of a group"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        parser.add_argument(
            'seconds', metavar='<seconds>', type=int,
            help='Seconds from now until the lease expires')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group = self.client().groups.extend(
            self.group(parsed_args.group)['id'], parsed_args.seconds)
        return formatted_columns.fields(group, formatted_columns.GROUP)


class ReplanGroup(WaitingCommand, command.ShowOne):
    """Plan lost members of a group again"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = with_group(super().get_parser(prog_name))
        progress.add_options(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        group = self.client().groups.replan(
            self.group(parsed_args.group)['id'])
        return formatted_columns.fields(self.settled(group, parsed_args),
                                        formatted_columns.GROUP)


def change_failed(group: dict[str, Any]) -> exceptions.CommandError:
    """The error of a command whose change the engine has not carried out."""
    verb = 'is' if group['status'] in UNPLACED else 'stays'
    return exceptions.CommandError(
        f'group {group["id"]} {verb} {group["status"]}: '
        + '; '.join(formatted_columns.reason_lines(group['reasons'])))


def with_group(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument('group', metavar='<group>',
                        help='Name or ID of the group')
    return parser


def add_strict(parser: argparse.ArgumentParser) -> None:
    """The option of commands that may adopt servers."""
    parser.add_argument(
        '--strict', action='store_true',
        help='Refuse adopted servers that violate a hard policy (default: '
             'report the violations in the group)')


def _without(rules: list[dict[str, Any]], key: str,
             name: str) -> list[dict[str, Any]]:
    """:raises BadInput: the group has none of this type"""
    remaining = [rule for rule in rules if rule.get('type') != name]
    if len(remaining) == len(rules):
        raise BadInput(
            f'{key}: the top-level group has none of type {name!r}')
    return remaining
