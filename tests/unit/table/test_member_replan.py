# SPDX-License-Identifier: Apache-2.0
"""Planned members get other places before their holds are written."""

from dataclasses import replace

import pytest

from nova_holistic.table.changes import member_replan
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import MemberState, Place, Task
from tests.unit.table import builders

NOON = builders.NOON
ELSEWHERE = Place('cmp-7', 'cmp-7', builders.new_uuid(), ('rack3',))


def moved(*rows):
    """Other places for members, by their previous holds."""
    return {row.hold: replace(row, hold=builders.new_uuid(), place=ELSEWHERE)
            for row in rows}


def test_all_given_members_get_their_places_and_no_others(table, shop):
    web, first, *others = table.members(shop.uuid)
    wanted = moved(web, first)
    assert member_replan.move(table.database, wanted)
    assert table.members(shop.uuid) == (*wanted.values(), *others)


def test_readers_of_exclusive_groups_learn_of_other_places(table):
    group = builders.planned(
        table, builders.a_group(exclusive=True), web=None, node=3)
    table.exclusive_groups()
    assert member_replan.move(table.database,
                              moved(table.members(group.uuid)[1]))
    (_, found), = table.exclusive_groups()
    assert [row.place for row in found] == [
        row.place for row in table.members(group.uuid)]
    assert ELSEWHERE in [row.place for row in found]


@pytest.mark.parametrize('state, changes', [
    (MemberState.RELEASED, {}), (MemberState.LOST, {}),
    (MemberState.PLANNED, {'held': False})])
def test_no_member_moves_if_one_has_changed(table, shop, state, changes):
    web, first, *_ = table.members(shop.uuid)
    assert table.change_state(
        first.id, [MemberState.PLANNED], state, NOON, **changes)
    before = table.members(shop.uuid)
    assert not member_replan.move(table.database, moved(web, first))
    assert table.members(shop.uuid) == before


def test_no_member_moves_that_a_server_has(table, shop):
    row = table.claim(
        shop.uuid, table.members(shop.uuid)[0].member.path,
        builders.new_uuid(), NOON)
    before = table.members(shop.uuid)
    assert not member_replan.move(table.database, moved(row))
    assert table.members(shop.uuid) == before


def test_only_the_engine_of_the_task_moves_members(table, shop):
    row = table.members(shop.uuid)[0]
    assert table.tasks.request(
        shop.uuid, NewTask(Task.REPLANNING, {}, [shop.status]), NOON)
    assert table.tasks.take(shop.uuid, 'one', NOON, NOON)
    assert not member_replan.move(table.database, moved(row), 'two')
    assert table.members(shop.uuid)[0] == row
    assert member_replan.move(table.database, moved(row), 'one')
    assert table.members(shop.uuid)[0].place == ELSEWHERE
