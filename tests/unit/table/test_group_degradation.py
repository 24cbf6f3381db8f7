# SPDX-License-Identifier: Apache-2.0
"""The result of a check counts only for the group as it was checked."""

import pytest

from nova_holistic.table.changes import group_degradation
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

WHY = [{'at': 'anti-affinity', 'message': 'host h1 holds 2 members',
        'names': ['h1'], 'hidden': [[5, 7]]}]


@pytest.fixture
def built(table):
    """A complete group with one server."""
    group = builders.planned(table, web=None)
    claim(table, group, 'db/web')
    table.settle(group.uuid, builders.NOON)
    return table.get_group(group.uuid)


def claim(table, group, path):
    row = table.claim(group.uuid, path, builders.new_uuid(), builders.NOON)
    table.change_state(row.id, [MemberState.CLAIMED], MemberState.BUILT,
                       builders.NOON)


def degrade(table, record):
    return group_degradation.degrade(table.database, record, WHY,
                                     builders.NOON)


def recover(table, record):
    return group_degradation.recover(
        table.database, record, table.members(record.uuid), builders.NOON)


def test_a_group_is_degraded_and_recovers(table, built):
    assert built.status == GroupStatus.COMPLETE
    assert degrade(table, built)
    found = table.get_group(built.uuid)
    assert (found.status, found.violations) == ('degraded', tuple(WHY))
    assert recover(table, built)
    found = table.get_group(built.uuid)
    assert (found.status, found.violations) == ('complete', ())
    assert not recover(table, built)


@pytest.mark.parametrize('change', [
    {'revision': 2}, {'task': Task.UPDATING},
    {'created_at': builders.NOON.replace(hour=1)}])
def test_a_group_that_has_changed_is_left_alone(table, built, change):
    table.update_group(built.uuid, [GroupStatus.COMPLETE], **change)
    assert not degrade(table, built)
    assert table.get_group(built.uuid).status != 'degraded'


def test_a_group_in_error_is_left_alone(table, built):
    builders.force_status(table, built.uuid, GroupStatus.ERROR)
    assert not degrade(table, built)
    assert table.get_group(built.uuid).status != 'degraded'


def test_a_degraded_group_stays_so_until_its_servers_are_gone(table):
    group = builders.planned(table, web=None, node=2)
    claim(table, group, 'db/web')
    degrade(table, table.get_group(group.uuid))
    claim(table, group, 'db/node')
    table.settle(group.uuid, builders.NOON)
    assert table.get_group(group.uuid).status == 'degraded'
    for row in table.members(group.uuid):
        builders.force_state(table, row.id, MemberState.PLANNED)
    table.settle(group.uuid, builders.NOON)
    assert table.get_group(group.uuid).status == 'planned'
