# SPDX-License-Identifier: Apache-2.0
"""What groups keep others out of is asked for each server of the cloud."""

from dataclasses import replace

import pytest

from nova_holistic.table.queries.exclusive import ExclusiveGroups
from nova_holistic.table.records import MemberState, Place
from nova_holistic.table.store import PlacementTable, SITTING
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table import test_rosters

HEAVY = ('document', 'requirements', 'location', 'alternates')


@pytest.fixture
def shop(table):
    """A group that keeps others out."""
    return builders.planned(
        table, builders.a_group(exclusive=True), web=None, node=3)


def sitting(table, group):
    """The group and its members, read without any memory."""
    record, members = table.group_with_members(group.uuid)
    return replace(record, pending=None), test_rosters.unstamped(
        member for member in members if member.state in SITTING)


@pytest.mark.parametrize('change', [
    test_rosters.claimed, test_rosters.claimed_and_taken_back,
    test_rosters.built_elsewhere, test_rosters.hold_forgotten,
    test_rosters.lost_and_planned_anew, test_rosters.written_anew,
    test_rosters.revised, test_rosters.created_again,
    test_rosters.created_again_in_that_moment
], ids=lambda change: change.__name__)
def test_every_change_of_a_group_is_seen(table, table_url, shop, change):
    before = table.exclusive_groups()
    assert before == (sitting(table, shop),)
    # By another process.
    change(PlacementTable(table_url), shop, table.members(shop.uuid))
    for _ in range(2):
        found = table.exclusive_groups()
        assert found == (sitting(table, shop),)
        assert found != before


@pytest.mark.parametrize('end', [test_rosters.released, test_rosters.deleted])
def test_an_exclusive_group_without_servers_is_not_listed(table, shop, end):
    table.exclusive_groups()
    table.release([table.members(shop.uuid)[0].hold], builders.NOON)
    end(table, shop, table.members(shop.uuid))
    assert table.exclusive_groups() == ()


def test_cached_exclusive_groups_cost_two_statements(table, shop):
    """However many groups: two statements, none of what takes long."""
    others = [builders.planned(table, builders.a_group(exclusive=True),
                               node=2) for _ in range(3)]
    table.exclusive_groups()
    test_rosters.claimed(table, others[0], ())
    with recorded(table.database.engine) as sent:
        assert len(table.exclusive_groups()) == 4
    assert len(sent.statements) == 2
    for column in HEAVY:
        assert not [each for each in sent.statements if column in each], column


def test_changed_exclusive_groups_cost_two_more_statements(table, shop):
    others = [builders.planned(table, builders.a_group(exclusive=True),
                               node=2) for _ in range(3)]
    with recorded(table.database.engine) as sent:
        table.exclusive_groups()
    assert len(sent.statements) == 4
    assert not [each for each in sent.statements if 'alternates' in each]
    member = table.members(others[0].uuid)[0]
    table.change_state(
        member.id, [MemberState.PLANNED], MemberState.CLAIMED, builders.NOON,
        place=Place('cmp-7', 'cmp-7', builders.new_uuid()))
    with recorded(table.database.engine) as sent:
        table.exclusive_groups()
    assert len(sent.statements) == 4


def test_groups_above_the_cache_limit_are_read_correctly(table, shop):
    other = builders.planned(
        table, builders.a_group(exclusive=True), node=2)
    groups = ExclusiveGroups(table.database, SITTING, limit=4)
    expected = {shop.uuid: 4, other.uuid: 2}
    for _ in range(2):
        assert {record.uuid: len(members) for record, members
                in groups.read()} == expected


def test_without_exclusive_groups_one_statement_is_sent(table):
    builders.planned(table, node=2)
    with recorded(table.database.engine) as sent:
        assert table.exclusive_groups() == ()
    assert len(sent.statements) == 1
