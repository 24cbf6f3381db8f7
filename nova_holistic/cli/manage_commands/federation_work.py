# SPDX-License-Identifier: Apache-2.0
"""The work of the commands in ``federation``."""

import argparse
from collections.abc import Sequence
import dataclasses
from datetime import timedelta
import json

from nova_holistic.cli.components import (
    federation_components, managed_groups)
from nova_holistic.cli import exits
from nova_holistic.cli.manage_commands.command import CommandResult
from nova_holistic.cli.output import group_tables
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation import children_file
from nova_holistic.federation.recovery import (
    ended_tasks, forgotten_cloud)
from nova_holistic.federation.recovery.recover import (
    LEFT, Outcome, Owner, Recovery)
from nova_holistic.policies import load_policy_types
from nova_holistic.table.clock import DatabaseClock

_INCOMPLETE = 1
"""Exit code if a group is left."""


def recover(conf) -> CommandResult:
    """Restore the groups of a parent from its children."""
    arguments = conf.command
    _must_be_parent(conf)
    owner = _owner(arguments)
    table = managed_groups.managed_table(conf)
    clock = DatabaseClock(table.database)
    parts = federation_components.found_parts(
        conf, clock, arguments.all_projects, arguments.credentials)
    outcomes = tuple(Recovery(
        table, load_policy_types(), conf.federation.commit_lease, clock,
        [each.name for each in children_file.read(conf.federation.children)
         if each.keystone is not None],
        owner).run(parts, arguments.dry_run))
    return CommandResult(
        _text(outcomes, arguments.format),
        _INCOMPLETE if any(each.result == LEFT for each in outcomes)
        else exits.GOOD)


def forget(conf) -> CommandResult:
    """Remove the parts of groups in a child that is gone."""
    arguments = conf.command
    table = managed_groups.managed_table(conf)
    clock = DatabaseClock(table.database)
    outcomes = tuple(
        forgotten_cloud.forget(table, uuid, arguments.cloud, clock,
                               dry_run=not arguments.cloud_is_gone)
        for uuid in dict.fromkeys(arguments.groups))
    return CommandResult(
        _forgotten_text(outcomes, arguments.format),
        _INCOMPLETE if any(
            each.result == forgotten_cloud.BUSY for each in outcomes)
        else exits.GOOD)


def end_task(conf) -> CommandResult:
    """End the tasks of groups that wait for a user."""
    arguments = conf.command
    _must_be_parent(conf)
    table = managed_groups.managed_table(conf)
    clock = DatabaseClock(table.database)
    outcomes = tuple(
        ended_tasks.end(
            table, uuid, timedelta(seconds=conf.federation.task_timeout),
            clock, arguments.dry_run)
        for uuid in dict.fromkeys(arguments.groups))
    return CommandResult(
        _ended_text(outcomes, arguments.format),
        _INCOMPLETE if any(each.result == ended_tasks.BUSY
                           for each in outcomes) else exits.GOOD)


def _must_be_parent(conf) -> None:
    if not conf.federation.children:
        raise InvalidDocument('[federation] children', 'the option is not '
                              'set: this service is not a parent')


def _ended_text(outcomes: Sequence[ended_tasks.EndedTask], form: str) -> str:
    if form == 'json':
        return json.dumps([dataclasses.asdict(each) for each in outcomes],
                          indent=2)
    return '\n'.join(group_tables.columns(
        ('GROUP', 'TASK', 'PROJECT', 'USER', 'RESULT'),
        ((each.group, each.task or '-', each.project_id, each.user_id,
          each.result) for each in outcomes)))


def _forgotten_text(outcomes: Sequence[forgotten_cloud.ForgottenPart],
                    form: str) -> str:
    if form == 'json':
        return json.dumps([dataclasses.asdict(each) for each in outcomes],
                          indent=2)
    return '\n'.join(group_tables.columns(
        ('GROUP', 'GROUP IN THE CLOUD', 'MEMBERS', 'RESULT'),
        ((each.group, ','.join(each.child_groups) or '-', str(each.members),
          each.result) for each in outcomes)))


def _owner(arguments: argparse.Namespace) -> Owner | None:
    ids = arguments.project_id, arguments.user_id
    if None in ids:
        if ids != (None, None):
            raise InvalidDocument('--project-id', 'give it together with '
                                  '--user-id')
        return None
    return Owner(*ids)


def _text(outcomes: Sequence[Outcome], form: str) -> str:
    if form == 'json':
        return json.dumps([dataclasses.asdict(each) for each in outcomes],
                          indent=2)
    return '\n'.join(group_tables.columns(
        ('GROUP', 'NAME', 'PROJECT', 'CLOUDS', 'MEMBERS', 'RESULT'),
        ((each.group, each.name, each.project_id, ','.join(each.clouds),
          str(each.members), ': '.join(filter(None, (
              each.result, each.why)))) for each in outcomes)))
