# SPDX-License-Identifier: Apache-2.0
"""The domains that groups reserve are read for each server of the cloud."""

from dataclasses import replace

import pytest

from nova_holistic.table.queries.exclusive import ExclusiveGroups
from nova_holistic.table.queries.group_cache import GroupCache
from nova_holistic.table.records import MemberState, Place
from nova_holistic.table.store import OCCUPYING, PlacementTable
from tests.executed_lines import executed
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table import test_group_cache

HEAVY = ('document', 'requirements', 'location', 'alternates')


@pytest.fixture
def shop(table):
    """A group with an exclusive policy."""
    return builders.planned(
        table, builders.a_group(exclusive=True), web=None, node=3)


def sitting(table, group):
    """The group and its members, read without a cache."""
    record, members = table.group_with_members(group.uuid)
    return reserving((record, [
        member for member in members if member.state in OCCUPYING]))


def reserving(found):
    """Return the values of a group that determine the domains that it
    reserves."""
    record, members = found
    return (record.uuid, record.project_id, record.document, record.levels,
            record.revision, record.fingerprint, record.created_at, [
                replace(member, held=False) for member
                in sorted(test_group_cache.unstamped(members), key=by_id)])


def by_id(member):
    return member.id


@pytest.mark.parametrize('change', [
    test_group_cache.claimed, test_group_cache.built_elsewhere,
    test_group_cache.lost_and_planned_anew, test_group_cache.written_anew,
    test_group_cache.revised, test_group_cache.created_again,
    test_group_cache.created_again_in_that_moment
], ids=lambda change: change.__name__)
def test_every_change_of_a_group_is_seen(table, table_url, shop, change):
    before, = map(reserving, table.exclusive_groups())
    assert before == sitting(table, shop)
    # Another process writes this change.
    change(PlacementTable(table_url), shop, table.members(shop.uuid))
    for _ in range(2):
        found, = map(reserving, table.exclusive_groups())
        assert found == sitting(table, shop)
        assert found != before


@pytest.mark.parametrize('end',
                         [test_group_cache.released, test_group_cache.deleted])
def test_an_exclusive_group_without_servers_is_not_listed(table, shop, end):
    table.exclusive_groups()
    table.release([table.members(shop.uuid)[0].hold], builders.NOON)
    end(table, shop, table.members(shop.uuid))
    assert table.exclusive_groups() == ()


def test_cached_exclusive_groups_cost_one_statement(table, shop):
    """This holds for any number of groups and members: one row of sums, and
    one for a claim."""
    others = [builders.planned(table, builders.a_group(exclusive=True),
                               node=2) for _ in range(3)]
    table.exclusive_groups()
    test_group_cache.claimed(table, others[0], ())
    with recorded(table.database.engine) as sent:
        assert len(table.exclusive_groups()) == 4
    assert len(sent.statements) == 1
    for column in HEAVY:
        assert not [each for each in sent.statements if column in each], column


def test_changed_exclusive_groups_cost_three_more_statements(table, shop):
    others = [builders.planned(table, builders.a_group(exclusive=True),
                               node=2) for _ in range(3)]
    with recorded(table.database.engine) as sent:
        table.exclusive_groups()
    assert len(sent.statements) == 4
    assert not [each for each in sent.statements if 'alternates' in each]
    changed, member = table.members(others[0].uuid)
    table.change_state(
        changed.id, [MemberState.PLANNED], MemberState.CLAIMED, builders.NOON,
        place=Place('cmp-7', 'cmp-7', builders.new_uuid()))
    with recorded(table.database.engine) as sent:
        table.exclusive_groups()
    assert len(sent.statements) == 4


def test_what_is_unchanged_is_the_same_object(table, shop):
    other = builders.planned(
        table, builders.a_group(exclusive=True), node=2)
    before = dict(by_uuid(table.exclusive_groups()))
    assert table.exclusive_groups() is table.exclusive_groups()
    table.claim(other.uuid, 'db/node', builders.new_uuid(), builders.NOON)
    now = dict(by_uuid(table.exclusive_groups()))
    assert now[shop.uuid] is before[shop.uuid]
    (first, second), (claimed, still) = (
        each[other.uuid][1] for each in (before, now))
    assert (first.state, claimed.state) == (
        MemberState.PLANNED, MemberState.CLAIMED)
    assert still is second
    assert table.exclusive_groups() is table.exclusive_groups()


def by_uuid(groups):
    return {found[0].uuid: found for found in groups}


def test_a_claim_that_is_undone_and_made_again_is_seen(table, shop):
    """The second claim equals the first one and increases no version."""
    server = builders.new_uuid()
    for _ in range(2):
        row = table.claim(shop.uuid, 'db/web', server, builders.NOON)
        assert owners(table) == [server]
        table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.PLANNED,
            builders.NOON, instance_uuid=None, held=True)
    assert owners(table) == []


def test_a_claim_read_before_its_end_does_not_come_back(
        table, shop, monkeypatch):
    """The claim is undone and repeated while the groups are read."""
    server = builders.new_uuid()
    table.exclusive_groups()
    row = table.claim(shop.uuid, 'db/web', server, builders.NOON)
    view = table.database.view

    def late_view():
        monkeypatch.undo()
        table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.PLANNED,
            builders.NOON, instance_uuid=None, held=True)
        return view()

    other = table.members(shop.uuid)[1]
    table.change_state(other.id, [MemberState.PLANNED], MemberState.LOST,
                       builders.NOON)
    monkeypatch.setattr(table.database, 'view', late_view)
    assert owners(table) == []
    table.claim(shop.uuid, 'db/web', server, builders.NOON)
    assert owners(table) == [server]


def owners(table):
    return owners_in(table.exclusive_groups())


def owners_in(groups):
    (_, members), = groups
    return [each.instance_uuid for each in members if each.instance_uuid]


def test_a_claim_visits_only_its_member(table):
    """A read after a claim executes as many lines for many members as for
    few."""
    counts = []
    for number in 2, 40:
        group = builders.planned(
            table, builders.a_group(exclusive=True), node=number)
        groups = ExclusiveGroups(table.database, OCCUPYING)
        groups.read()
        table.claim(group.uuid, 'db/node', builders.new_uuid(), builders.NOON)
        counts.append(executed(groups.read, files=(
            '/queries/exclusive.py', '/queries/group_members.py')).total())
        table.delete_group(group.uuid)
    few, many = counts
    assert few == many > 0


def test_groups_above_the_cache_limit_are_read_correctly(table, shop):
    other = builders.planned(
        table, builders.a_group(exclusive=True), node=2)
    groups = ExclusiveGroups(table.database, OCCUPYING, limit=4)
    expected = {shop.uuid: 4, other.uuid: 2}
    for _ in range(2):
        assert {record.uuid: len(members) for record, members
                in groups.read()} == expected


def test_without_exclusive_groups_one_statement_is_sent(table):
    builders.planned(table, node=2)
    with recorded(table.database.engine) as sent:
        assert table.exclusive_groups() == ()
    assert len(sent.statements) == 1


def test_the_state_that_was_read_with_a_group_is_not_read_again(table, shop):
    """The group of the server is another one than the exclusive group."""
    other = builders.planned(table, node=2)
    cache = GroupCache(table.database)
    cache.read(other.uuid)
    known = table.exclusive_groups()
    server = builders.new_uuid()
    for change in (lambda: None, lambda: table.claim(
            shop.uuid, 'db/web', server, builders.NOON)):
        change()
        read = cache.read_for(other.uuid, 'db/node-1')
        with recorded(table.database.engine) as sent:
            found = table.exclusive_groups(read.exclusive)
        assert not sent.statements
    assert owners_in(found) == owners(table) == [server]
    assert owners_in(known) == []


def test_a_group_that_became_exclusive_is_read_with_the_state(table):
    other = builders.planned(table, node=2)
    cache = GroupCache(table.database)
    cache.read(other.uuid)
    for _ in range(2):
        read = cache.read_for(other.uuid, 'db/node-1')
        with recorded(table.database.engine) as sent:
            assert table.exclusive_groups(read.exclusive) == ()
        assert not sent.statements
    late = builders.planned(
        table, builders.a_group(exclusive=True), node=2)
    # The state is of the time before the group became exclusive.
    assert table.exclusive_groups(read.exclusive) == ()
    read = cache.read_for(other.uuid, 'db/node-1')
    assert by_uuid(table.exclusive_groups(read.exclusive)).keys() == {
        late.uuid}
