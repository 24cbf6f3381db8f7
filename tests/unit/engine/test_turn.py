# SPDX-License-Identifier: Apache-2.0
"""Whoever loses the turn at a group writes nothing of it any more."""

from datetime import timedelta

import pytest

from nova_holistic.engine.errors import TurnLost
from nova_holistic.engine.turn import Turn
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table.builders import a_group, members_of, NOON

LATER = NOON + timedelta(minutes=10)


def clock():
    return LATER


def engines_turn(table):
    """One engine has had the group; another has it now."""
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    record = table.tasks.take(group.uuid, 'one', NOON, NOON)
    assert table.tasks.take(group.uuid, 'two', LATER, LATER)
    return Turn(table, record, clock)


def callers_turn(table):
    """The group of a caller was given up, as if the caller were dead."""
    group = a_group(GroupStatus.PLANNING)
    table.create_group(group)
    assert table.update_group(group.uuid, [GroupStatus.PLANNING],
                              status=GroupStatus.ERROR)
    return Turn(table, group, clock)


@pytest.mark.parametrize('lost', [engines_turn, callers_turn])
@pytest.mark.parametrize('write', [
    lambda turn: turn.change(levels=('host',)),
    lambda turn: turn.finish(status=GroupStatus.PLANNED)])
def test_a_turn_that_is_lost_changes_nothing(table, lost, write):
    turn = lost(table)
    before = table.get_group(turn.record.uuid)
    with pytest.raises(TurnLost):
        write(turn)
    assert table.get_group(turn.record.uuid) == before


def test_an_engine_that_lost_its_turn_writes_no_members(table):
    turn = engines_turn(table)
    with pytest.raises(TurnLost):
        turn.write_members(members_of(turn.record, {'web': None}))
    assert table.members(turn.record.uuid) == ()


def test_a_turn_lasts_until_it_is_finished(table):
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    turn = Turn(table, table.tasks.take(group.uuid, 'one', NOON, NOON), clock)
    turn.change(levels=('host',))
    turn.write_members(members_of(group, {'web': None}))
    turn.finish(status=GroupStatus.PLANNED)
    after = table.get_group(group.uuid)
    assert (after.status, after.levels, after.task, after.engine) == (
        GroupStatus.PLANNED, ('host',), None, None)
    assert len(table.members(group.uuid)) == 1
    with pytest.raises(TurnLost):
        turn.change(levels=('rack', 'host'))
