# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage group purge``: delete finished groups."""

import argparse
from collections.abc import Callable, Iterator
from datetime import timedelta

from nova_holistic.cli.manage_commands.command import (
    add_format, Command, CommandResult)
from nova_holistic.cli.manage_commands import group
from nova_holistic.cli.output import group_tables
from nova_holistic import exceptions
from nova_holistic.table.changes import group_purge
from nova_holistic.table.changes.group_purge import Choice
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.records import GroupRecord, GroupStatus
from nova_holistic.table.store import PlacementTable

DAYS = 30
"""Age in days from which groups are deleted if neither an age nor a group is
given."""
MAX_DAYS = 36_500
MAX_GROUPS = 2 ** 31 - 1


class NotFinished(exceptions.HolisticError):
    """The group may not be deleted."""


def purge(conf) -> CommandResult:
    """delete finished groups that have neither servers nor holds"""
    from nova_holistic.cli.components import managed_groups
    arguments, table = conf.command, managed_groups.managed_table(conf)
    if arguments.uuid is None:
        choice = _choice(table, arguments, DAYS)
        finished = group_purge.finished(
            table.database, choice, arguments.limit)
    else:
        choice = _choice(table, arguments, None)
        finished = _group_to_purge(table, arguments.uuid, choice)
    purged = [record for record in finished if arguments.dry_run
              or group_purge.purge(table.database, record.uuid, choice)]
    if arguments.uuid is not None and not purged:
        raise _not_finished(table, arguments.uuid, choice)
    return CommandResult(group_tables.groups(purged, arguments.format))


def _choice(table: PlacementTable, arguments: argparse.Namespace,
            default: int | None) -> Choice:
    """The groups that the arguments select.

    :param default: days, if no age is given; None for any age
    """
    days = default if arguments.older_than is None else arguments.older_than
    now = DatabaseClock(table.database)()
    return Choice(
        tuple(dict.fromkeys(arguments.statuses or group_purge.FINISHED)),
        None if days is None else now - timedelta(days=days))


def _group_to_purge(table: PlacementTable, group_uuid: str,
                    choice: Choice) -> Iterator[GroupRecord]:
    """The group with this UUID.

    :raises GroupUnknown: the group does not exist
    :raises NotFinished: it may not be deleted
    """
    record = table.get_group(group_uuid)
    if record is None:
        raise GroupUnknown(group_uuid)
    if group_purge.obstacle(table.database, group_uuid, choice):
        raise _not_finished(table, group_uuid, choice)
    yield record


def _not_finished(table: PlacementTable, group_uuid: str,
                  choice: Choice) -> exceptions.HolisticError:
    why = group_purge.obstacle(table.database, group_uuid, choice)
    return NotFinished(
        f'group {group_uuid} {why or "has changed in the meantime"}: only '
        f'groups that are {", ".join(choice.statuses)}, without servers and '
        'holds, are purged')


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'uuid', nargs='?', type=group.printable_name, metavar='UUID',
        help='UUID of one group, of any age unless --older-than is given '
             '(default: all finished groups)')
    parser.add_argument(
        '--older-than', type=_number(0, MAX_DAYS), metavar='DAYS',
        help='only groups that have not changed for this number of days '
             f'(default: {DAYS}; 0 means any age)')
    parser.add_argument(
        '--status', action='append', dest='statuses', type=GroupStatus,
        choices=group_purge.FINISHED, metavar='STATUS',
        help='only groups with this status: released, unplaceable or error; '
             'may be repeated (default: all three)')
    parser.add_argument(
        '--limit', type=_number(1, MAX_GROUPS), metavar='N',
        help='delete at most this number of groups')
    parser.add_argument(
        '--dry-run', action='store_true',
        help='list the groups, and delete none')
    add_format(parser)


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 10
                and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(
                f'{text!r} is not a whole number from {least} to {most}')
        return int(text)

    return number


COMMANDS = {('group', 'purge'): Command(purge, _arguments)}
