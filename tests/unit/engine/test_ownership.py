# SPDX-License-Identifier: Apache-2.0
"""A planner that has lost the ownership of a group no longer writes."""

from datetime import timedelta

import pytest

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table.builders import a_group, members_of, NOON

LATER = NOON + timedelta(minutes=10)


def clock():
    return LATER


def owned_by_engine(table):
    """A group that was taken from one engine by another engine."""
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    record = table.tasks.take(group.uuid, 'one', NOON, NOON)
    assert table.tasks.take(group.uuid, 'two', LATER, LATER)
    return Ownership(table, record, clock)


def owned_by_caller(table):
    """The group of a caller was given up as if the caller had failed."""
    group = a_group(GroupStatus.PLANNING)
    table.create_group(group)
    assert table.update_group(group.uuid, [GroupStatus.PLANNING],
                              status=GroupStatus.ERROR)
    return Ownership(table, group, clock)


@pytest.mark.parametrize('lost', [owned_by_engine, owned_by_caller])
@pytest.mark.parametrize('write', [
    lambda ownership: ownership.change(levels=('host',)),
    lambda ownership: ownership.write_members(
        members_of(ownership.record, {'web': None}), levels=('host',)),
    lambda ownership: ownership.finish(status=GroupStatus.PLANNED)])
def test_a_lost_ownership_changes_nothing(table, lost, write):
    ownership = lost(table)
    before = table.get_group(ownership.record.uuid)
    with pytest.raises(OwnershipLost):
        write(ownership)
    assert table.get_group(ownership.record.uuid) == before
    assert table.members(ownership.record.uuid) == ()


def test_an_engine_without_ownership_writes_no_members(table):
    ownership = owned_by_engine(table)
    with pytest.raises(OwnershipLost):
        ownership.write_members(members_of(ownership.record, {'web': None}))
    assert table.members(ownership.record.uuid) == ()


def test_ownership_lasts_until_the_task_is_finished(table):
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    ownership = Ownership(
        table, table.tasks.take(group.uuid, 'one', NOON, NOON), clock)
    ownership.write_members(
        members_of(group, {'web': None}), levels=('host',))
    ownership.finish(status=GroupStatus.PLANNED)
    after = table.get_group(group.uuid)
    assert (after.status, after.levels, after.task, after.engine) == (
        GroupStatus.PLANNED, ('host',), None, None)
    assert len(table.members(group.uuid)) == 1
    with pytest.raises(OwnershipLost):
        ownership.change(levels=('rack', 'host'))
