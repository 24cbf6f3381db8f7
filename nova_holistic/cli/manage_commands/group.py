# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage group``: an operator manages groups on a live cloud.

The commands check no roles: a user who can read the configuration can manage
the groups of any project.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
import sys
from typing import Any

from nova_holistic.cli import exits, files, parameters
from nova_holistic.cli.manage_commands.command import (
    add_format, Command, CommandResult)
from nova_holistic.cli.output import group_tables
from nova_holistic.documents.definition import (
    is_template, read_definition, split_definition)
from nova_holistic.policies import load_policy_types
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.group_reasons import about_others
from nova_holistic.table.records import GroupRecord, GroupStatus
from nova_holistic.table.store import PlacementTable

MAX_SECONDS = 2 ** 31 - 1
"""Longest lease: every database can store the time at which it expires."""
MAX_NAME = 255
"""Characters in the id of a project or user."""

_FAILED = (GroupStatus.UNPLACEABLE, GroupStatus.ERROR)


def create(conf) -> CommandResult:
    """plan a group on the cloud in its current state, and hold its capacity"""
    from nova_holistic.cli.components import (
        engine_components, managed_groups)
    arguments, table = conf.command, managed_groups.managed_table(conf)
    record = engine_components.planner(conf, table).create(
        _document(arguments.file, arguments.parameters,
                  arguments.environments),
        project_id=arguments.project_id, user_id=arguments.user_id,
        objective=arguments.objective, lease=arguments.lease)
    return _planning_result(table, record, arguments.format)


def list_groups(conf) -> CommandResult:
    """list groups, oldest first"""
    from nova_holistic.cli.components import managed_groups
    groups = managed_groups.managed_table(conf).list_groups(
        conf.command.project_id)
    return CommandResult(group_tables.groups(groups, conf.command.format))


def show(conf) -> CommandResult:
    """show a group's status and the hosts of its members"""
    from nova_holistic.cli.components import managed_groups
    return CommandResult(_group_text(
        managed_groups.managed_table(conf), conf.command.uuid,
        conf.command.format))


def release(conf) -> CommandResult:
    """free the planned capacity of a group, of all or of some members"""
    from nova_holistic.cli.components import managed_groups
    table = managed_groups.managed_table(conf)
    outcome = managed_groups.lifecycle(conf, table).release(
        conf.command.uuid, conf.command.members or None)
    return CommandResult('\n'.join((
        *(f'{path}: released' for path in outcome.released),
        *(f'{path}: kept, it belongs to a server' for path in outcome.kept))))


def extend(conf) -> CommandResult:
    """extend the lease of a group: it expires after the given number of
    seconds"""
    from nova_holistic.cli.components import managed_groups
    table = managed_groups.managed_table(conf)
    record = managed_groups.lifecycle(conf, table).extend(
        conf.command.uuid, conf.command.seconds)
    return CommandResult(
        f'lease until {group_tables.time(record.lease_expires_at)}')


def replan(conf) -> CommandResult:
    """plan lost members of a group again; all other members keep their
    hosts"""
    from nova_holistic.cli.components import (
        engine_components, managed_groups)
    table = managed_groups.managed_table(conf)
    record = engine_components.planner(conf, table).replan(conf.command.uuid)
    return _planning_result(table, record, conf.command.format)


def delete(conf) -> CommandResult:
    """delete a group and free its capacity; its servers are not affected"""
    from nova_holistic.cli.components import managed_groups
    managed_groups.lifecycle(
        conf, managed_groups.managed_table(conf)).delete(conf.command.uuid)
    return CommandResult('')


def _document(name: str, values: Mapping[str, str],
              environments: Sequence[str]) -> Any:
    """The group document in a file, or that of the Heat template in it.

    Mistakes name the file here: later, the cause may also be the inventory.
    """
    read = files.Files(sys.stdin)
    document = read.document(name)
    inputs = read.template_inputs(name, document, values, environments)
    with read.with_file_name(name):
        if is_template(document):
            group, _ = split_definition(document, load_policy_types(),
                                        inputs.parameters, inputs.source)
            return {'group': group}
        read_definition(document, load_policy_types(), inputs.parameters)
    return document


def _planning_result(table: PlacementTable, record: GroupRecord,
                     form: str) -> CommandResult:
    """The group after planning, whether it succeeded or failed."""
    # The minimum of its members may permit that the group lacks some.
    bad = about_others(record.reasons) or record.status in _FAILED
    return CommandResult(_group_text(table, record.uuid, form),
                         exits.UNPLACEABLE if bad else exits.GOOD)


def _group_text(table: PlacementTable, group_uuid: str, form: str) -> str:
    group_with_members = table.group_with_members(group_uuid)
    if group_with_members is None:
        raise GroupUnknown(group_uuid)
    return group_tables.group(*group_with_members, form)


def _create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'file', metavar='FILE',
        help='group document or Heat template; - is standard input')
    parser.add_argument('--project-id', required=True, type=printable_name,
                        metavar='ID', help='project that owns the group')
    parser.add_argument('--user-id', required=True, type=printable_name,
                        metavar='ID', help='user who counts as the creator of '
                                           'the group')
    parser.add_argument(
        '--objective', metavar='NAME',
        help='objective of the plan (default: [planner] objective)')
    parser.add_argument(
        '--lease', type=_seconds(0), metavar='SECONDS',
        help='time until the lease of the group expires; 0 means no lease '
             '(default: [planner] lease)')
    parameters.add_option(parser)
    add_format(parser)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--project-id', type=printable_name, metavar='ID',
                        help='only groups of this project')
    add_format(parser)


def _release_arguments(parser: argparse.ArgumentParser) -> None:
    _add_uuid(parser)
    parser.add_argument(
        'members', nargs='*', metavar='MEMBER',
        help='path of a member, of a counted member for all its servers, or '
             'of a nested group for all its members (default: all members)')


def _extend_arguments(parser: argparse.ArgumentParser) -> None:
    _add_uuid(parser)
    parser.add_argument(
        'seconds', type=_seconds(1), metavar='SECONDS',
        help='time from now until the lease expires')


def _seen_arguments(parser: argparse.ArgumentParser) -> None:
    _add_uuid(parser)
    add_format(parser)


def _add_uuid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('uuid', type=printable_name, metavar='UUID',
                        help='UUID of the group')


def printable_name(text: str) -> str:
    """The argument, if it is a valid id of a group, project or user."""
    if not text.isprintable() or not 0 < len(text) <= MAX_NAME:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not 1 to {MAX_NAME} printable characters')
    return text


def _seconds(least: int) -> Callable[[str], int]:
    def seconds(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 10
                and least <= int(text) <= MAX_SECONDS):
            raise argparse.ArgumentTypeError(
                f'{text!r} is not a whole number from {least} to '
                f'{MAX_SECONDS}')
        return int(text)

    return seconds


COMMANDS = {
    ('group', 'create'): Command(create, _create_arguments),
    ('group', 'list'): Command(list_groups, _list_arguments),
    ('group', 'show'): Command(show, _seen_arguments),
    ('group', 'release'): Command(release, _release_arguments),
    ('group', 'extend'): Command(extend, _extend_arguments),
    ('group', 'replan'): Command(replan, _seen_arguments),
    ('group', 'delete'): Command(delete, _add_uuid),
}
