# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage refusal``: hosts that Nova refused for members."""

import argparse
import json

from nova_holistic.cli.manage_commands.command import (
    add_format, Command, CommandResult)
from nova_holistic.cli.manage_commands import group
from nova_holistic.cli.output import group_tables
from nova_holistic.table.coordination.refusals import KnownRefusal
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.store import PlacementTable


def list_refusals(conf) -> CommandResult:
    """list hosts that Nova's filters refused for members"""
    table, arguments = _table_and_arguments(conf)
    return _result(table.refusals.known(arguments.group, arguments.host),
                   arguments.format)


def clear(conf) -> CommandResult:
    """delete stored refusals, so that plans may use these hosts again
    immediately; prints the deleted refusals"""
    table, arguments = _table_and_arguments(conf)
    return _result(table.refusals.clear(arguments.group, arguments.host),
                   arguments.format)


def _table_and_arguments(conf) -> tuple[PlacementTable, argparse.Namespace]:
    """:raises GroupUnknown: the group with the given UUID does not exist"""
    table, arguments = PlacementTable.from_conf(conf), conf.command
    if (arguments.group is not None
            and table.get_group(arguments.group) is None):
        raise GroupUnknown(arguments.group)
    return table, arguments


def _result(refusals: list[KnownRefusal], form: str) -> CommandResult:
    if form == 'json':
        return CommandResult(json.dumps([{
            'group': refusal.group, 'member': refusal.description,
            'host': refusal.host, 'refused_by': refusal.by,
            'refused_at': group_tables.time(refusal.at)}
            for refusal in refusals],
            indent=2))
    return CommandResult('\n'.join(group_tables.columns(
        ('GROUP', 'MEMBER', 'HOST', 'REFUSED BY', 'AT'),
        ((refusal.group, refusal.description, refusal.host, refusal.by,
          group_tables.time(refusal.at)) for refusal in refusals))))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--group', type=group.printable_name, metavar='UUID',
        help='only refusals for members of this group (default: any group)')
    parser.add_argument(
        '--host', type=group.printable_name, metavar='HOST',
        help='only refusals of this host (default: any host)')
    add_format(parser)


COMMANDS = {
    ('refusal', 'list'): Command(list_refusals, _arguments),
    ('refusal', 'clear'): Command(clear, _arguments),
}
