# SPDX-License-Identifier: Apache-2.0
"""Only groups without servers and holds are deleted, however old they are."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table import batches
from nova_holistic.table.changes import group_purge
from nova_holistic.table.changes.group_purge import Choice
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
DAY = timedelta(days=1)
ANY = Choice()


def finished(table, choice=ANY, limit=None):
    return [record.uuid for record in group_purge.finished(
        table.database, choice, limit)]


def purge(table, group, choice=ANY):
    return group_purge.purge(table.database, group.uuid, choice)


def with_members(table, status=GroupStatus.RELEASED, members=(), **fields):
    """A group with one member for each ``(state, held)``."""
    group = builders.a_group(status, **fields)
    table.create_group(group)
    rows = builders.members_of(group, {'node': len(members)}) if (
        members) else []
    table.write_members(group.uuid, [
        replace(row, state=state, held=held, instance_uuid=(
            builders.new_uuid() if state in (
                MemberState.CLAIMED, MemberState.BUILT, MemberState.FAILED)
            else None))
        for row, (state, held) in zip(rows, members)])
    return group


@pytest.mark.parametrize('status', list(GroupStatus))
def test_only_finished_groups_are_deleted(table, status):
    group = with_members(table, status, [(MemberState.RELEASED, False)])
    expected = status in group_purge.FINISHED
    assert (finished(table) == [group.uuid]) == expected
    assert purge(table, group) == expected
    assert (table.get_group(group.uuid) is None) == expected
    assert (table.members(group.uuid) == ()) == expected


@pytest.mark.parametrize('held', [False, True])
@pytest.mark.parametrize('state', list(MemberState))
def test_a_group_with_a_server_or_a_hold_is_kept(table, state, held):
    group = with_members(table, members=[
        (MemberState.RELEASED, False), (state, held)])
    expected = not held and state in (MemberState.RELEASED, MemberState.LOST)
    assert (finished(table) == [group.uuid]) == expected
    assert purge(table, group) == expected
    assert (table.get_group(group.uuid) is None) == expected
    assert len(table.members(group.uuid)) == (0 if expected else 2)


def test_a_group_with_a_task_is_kept(table):
    group = with_members(table, GroupStatus.ERROR, task=Task.REPLANNING)
    assert finished(table) == []
    assert not purge(table, group)


def test_a_group_without_members_is_deleted(table):
    group = with_members(table, GroupStatus.UNPLACEABLE)
    assert finished(table) == [group.uuid]
    assert purge(table, group)
    assert not purge(table, group)


def test_the_age_is_that_of_the_last_change(table):
    old = with_members(table, updated_at=NOON - DAY)
    new = with_members(table, created_at=NOON - DAY, updated_at=NOON)
    unknown = with_members(table, updated_at=None)
    choice = Choice(unchanged_since=NOON - DAY)
    assert set(finished(table, choice)) == {old.uuid, unknown.uuid}
    assert not purge(table, new, choice)
    assert purge(table, old, choice)
    assert purge(table, unknown, choice)


def test_groups_are_selected_by_status(table):
    for status in group_purge.FINISHED:
        with_members(table, status)
    choice = Choice((GroupStatus.ERROR, GroupStatus.UNPLACEABLE))
    found = group_purge.finished(table.database, choice)
    assert [record.status for record in found] == ['error', 'unplaceable']
    released = table.list_groups(statuses=[GroupStatus.RELEASED])[0]
    assert not purge(table, released, choice)


@pytest.mark.parametrize('limit, number', [
    (1, 1), (3, 3), (6, 6), (7, 7), (8, 7), (None, 7)])
def test_groups_are_found_in_batches_while_they_are_deleted(
        table, monkeypatch, limit, number):
    monkeypatch.setattr(batches, 'MAX_BATCH_SIZE', 2)
    groups = {with_members(table, status).uuid: status
              for status in (*group_purge.FINISHED * 2, GroupStatus.ERROR)}
    found = []
    for record in group_purge.finished(table.database, ANY, limit):
        found.append(record.uuid)
        assert purge(table, record)
    assert len(found) == len(set(found)) == number
    assert {record.uuid for record in table.list_groups()} == (
        groups.keys() - found)


def test_a_group_that_changes_after_it_was_found_is_kept(table):
    group = with_members(
        table, GroupStatus.ERROR, [(MemberState.LOST, False)])
    assert finished(table) == [group.uuid]
    row, = table.members(group.uuid)
    assert table.offer_places([replace(
        row, held=True, hold=builders.new_uuid())])
    assert not purge(table, group)
    assert len(table.members(group.uuid)) == 1


@pytest.mark.parametrize('status, members, changes, why', [
    (GroupStatus.PLANNED, [(MemberState.PLANNED, True)], {}, 'is planned'),
    (GroupStatus.ERROR, [], {'task': Task.REPLANNING},
     'is being changed by an engine'),
    (GroupStatus.ERROR, [(MemberState.FAILED, False)], {},
     "has member 'db/node-0', which is failed"),
    (GroupStatus.RELEASED, [(MemberState.RELEASED, True)], {},
     "has member 'db/node-0', which is released and held"),
    (GroupStatus.RELEASED, [], {'updated_at': NOON},
     'was changed too recently')])
def test_the_reason_for_keeping_a_group_is_named(
        table, status, members, changes, why):
    group = with_members(table, status, members, **changes)
    choice = Choice(unchanged_since=NOON - DAY)
    assert group_purge.obstacle(table.database, group.uuid, choice) == why
    assert group_purge.obstacle(
        table.database, builders.new_uuid(), choice) is None


def test_a_finished_group_has_no_reason_to_be_kept(table):
    group = with_members(table, members=[(MemberState.RELEASED, False)])
    assert group_purge.obstacle(table.database, group.uuid, ANY) is None
