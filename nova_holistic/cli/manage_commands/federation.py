# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-manage federation``: for the operator of a parent."""

import argparse

from nova_holistic.cli.manage_commands.command import (
    add_format, Command, CommandResult)
from nova_holistic.cli.manage_commands import group


def recover(conf) -> CommandResult:
    """restore the groups of a parent that has lost its database from the
    groups of its children"""
    from nova_holistic.cli.manage_commands import federation_work
    return federation_work.recover(conf)


def forget(conf) -> CommandResult:
    """remove the parts of groups in a child that is permanently gone, so that
    the groups can be deleted or planned again"""
    from nova_holistic.cli.manage_commands import federation_work
    return federation_work.forget(conf)


def end_task(conf) -> CommandResult:
    """end the tasks of groups that wait for a user who does not return, so
    that the groups can be changed or deleted"""
    from nova_holistic.cli.manage_commands import federation_work
    return federation_work.end_task(conf)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--credentials', required=True, metavar='FILE',
        help='file with a credential for each child that may read groups')
    parser.add_argument(
        '--all-projects', action='store_true',
        help='read the groups of all projects; the credentials need the right '
             'to list them (default: the groups of the projects of the '
             'credentials)')
    parser.add_argument(
        '--project-id', type=group.printable_name, metavar='ID',
        help='project that owns the groups, if the children have their own '
             'keystone (default: as in the children)')
    parser.add_argument(
        '--user-id', type=group.printable_name, metavar='ID',
        help='user who counts as the creator of the groups')
    parser.add_argument(
        '--dry-run', action='store_true',
        help='list the groups, and restore none')
    add_format(parser)


def _forget_arguments(parser: argparse.ArgumentParser) -> None:
    _add_groups(parser)
    parser.add_argument(
        '--cloud', required=True, type=group.printable_name, metavar='NAME',
        help='name of the child')
    parser.add_argument(
        '--cloud-is-gone', action='store_true',
        help='remove the parts. Without this option, the parts are only '
             'listed')
    add_format(parser)


def _end_task_arguments(parser: argparse.ArgumentParser) -> None:
    _add_groups(parser)
    parser.add_argument(
        '--dry-run', action='store_true',
        help='list the tasks, and end none')
    add_format(parser)


def _add_groups(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'groups', nargs='+', type=group.printable_name, metavar='UUID',
        help='UUID of a group of this parent')


COMMANDS = {('federation', 'recover'): Command(recover, _arguments),
            ('federation', 'forget'): Command(forget, _forget_arguments),
            ('federation', 'end-task'): Command(
                end_task, _end_task_arguments)}
