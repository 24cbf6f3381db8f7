# SPDX-License-Identifier: Apache-2.0
"""Groups that are read repeatedly are read in their current state."""

from dataclasses import replace
from datetime import datetime, timedelta
import random

import pytest
import sqlalchemy as sa

from nova_holistic.table.changes import group_revision
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.queries import cached_group
from nova_holistic.table.queries.group_cache import (
    GROUP_WEIGHT, GroupCache, MAX_IDLE_SECONDS)
from nova_holistic.table.queries import group_state
from nova_holistic.table.records import GroupStatus, MemberState, Place, Task
from nova_holistic.table.schema.models import MemberRow
from tests.statements import recorded
from tests.unit.table import builders

NOON = builders.NOON
LATER = NOON + timedelta(minutes=5)
LONG_AGO = datetime(2020, 1, 1)
"""Time of the last change of the first member; that of each other member is an
hour later."""
FOUND = Place('cmp-7', 'cmp-7.example.org', builders.new_uuid(), ('rack7',))


@pytest.fixture
def rosters(table):
    """The cache of a process while another process changes the table."""
    return GroupCache(table.database)


def claimed(table, group, rows):
    table.claim(group.uuid, 'db/node', builders.new_uuid(), LATER)


def claimed_and_taken_back(table, group, rows):
    row = table.claim(group.uuid, 'db/web', builders.new_uuid(), LATER)
    table.change_state(row.id, [MemberState.CLAIMED], MemberState.PLANNED,
                       LATER, instance_uuid=None, held=True)


def built_elsewhere(table, group, rows):
    row = table.claim(group.uuid, 'db/web', builders.new_uuid(), LATER)
    table.change_state(row.id, [MemberState.CLAIMED], MemberState.BUILT,
                       LATER, place=FOUND)


def released(table, group, rows):
    table.release([row.hold for row in rows[1:]], LATER)
    table.update_group(group.uuid, [GroupStatus.PLANNED],
                       status=GroupStatus.RELEASED, updated_at=LATER)


def hold_forgotten(table, group, rows):
    table.forget_holds([rows[0].hold])


def lost_and_planned_anew(table, group, rows):
    table.change_state(rows[1].id, [MemberState.PLANNED], MemberState.LOST,
                       LATER, held=False)
    replanned = replace(rows[1], state=MemberState.LOST, held=True,
                        place=FOUND, hold=builders.new_uuid())
    assert table.offer_places([replanned])
    table.accept_places([replanned.hold], LATER)


def anew_on_the_same_host(table, group, rows):
    """As lost_and_planned_anew, but the host is in another rack now."""
    table.change_state(rows[1].id, [MemberState.PLANNED], MemberState.LOST,
                       LATER, held=False)
    assert table.offer_places([replace(
        rows[1], state=MemberState.LOST, held=True, hold=builders.new_uuid(),
        place=replace(rows[1].place, location=('rack8',)))])


def written_anew(table, group, rows):
    table.write_members(group.uuid, builders.members_of(
        group, {'web': None, 'node': 2}))


def revised(table, group, rows):
    """The members have another order, and one has another description."""
    table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': {'name': 'n'}}, [GroupStatus.PLANNED],
            1), NOON)
    table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    assert group_revision.revise(table.database, group.uuid, 'engine-1',
                                 group_revision.Revision(
                                     {'document': {'name': 'n'}, 'name': 'n'},
                                     {'db/node-2': 'db/alone',
                                      'db/web': 'db/web'},
                                     removed=[rows[1]]), LATER)


def deleted(table, group, rows):
    table.delete_group(group.uuid)


def created_again(table, group, rows):
    """A new group has the same UUID and revision, but another document."""
    table.delete_group(group.uuid)
    table.create_group(replace(
        group, document={'group': {'name': 'other'}}, created_at=LATER))
    table.write_members(group.uuid, builders.members_of(
        group, {'web': None, 'node': 3}))


def created_again_in_that_moment(table, group, rows):
    """The group is created by a request with another body."""
    table.delete_group(group.uuid)
    table.create_group(replace(
        group, document={'group': {'name': 'other'}}, fingerprint='other'))
    table.write_members(group.uuid, builders.members_of(
        group, {'web': None, 'node': 3}))


@pytest.mark.parametrize('change', [
    claimed, claimed_and_taken_back, built_elsewhere, released,
    hold_forgotten, lost_and_planned_anew, anew_on_the_same_host,
    written_anew, revised, deleted, created_again,
    created_again_in_that_moment], ids=lambda change: change.__name__)
def test_every_change_of_a_group_is_seen(table, rosters, shop, change):
    before = rosters.read(shop.uuid)
    assert before == (shop, unstamped(table.members(shop.uuid)))
    change(table, shop, table.members(shop.uuid))
    for _ in range(2):
        found = rosters.read(shop.uuid)
        whole = table.group_with_members(shop.uuid)
        assert found != before
        assert found == (whole and (
            replace(whole[0], pending=None), unstamped(whole[1])))


def unstamped(members):
    """Return the rows without columns that no reader of the cache needs."""
    return tuple(replace(member, alternates=(), updated_at=None)
                 for member in members)


def test_unchangeable_columns_are_not_read_again(table, rosters, shop):
    rosters.read(shop.uuid)
    claimed(table, shop, ())
    with recorded(table.database.engine) as sent:
        rosters.read(shop.uuid)
    text, = sent.statements
    for column in ('document', 'requirements', 'location'):
        assert column not in text


def test_alternates_of_the_member_at_the_path_are_read(table, shop):
    rosters = GroupCache(table.database)
    web, *nodes = table.members(shop.uuid)
    # The whole group is read first, without alternates.
    assert rosters.read_for(shop.uuid, 'db/web')[1] is None
    for path, expected in (
            ('db/web', web.alternates), ('db/node-1', nodes[1].alternates),
            # Only the claim decides which of its servers the request gets.
            ('db/node', None), ('db/none', None)):
        (_, members), alternates, _ = rosters.read_for(shop.uuid, path)
        assert alternates == expected
        assert not any(member.alternates for member in members)
    assert web.alternates


@pytest.mark.parametrize('limit, kept', [
    (2 * (GROUP_WEIGHT + 4), True), (2 * (GROUP_WEIGHT + 4) - 1, False)])
def test_the_least_recently_used_group_is_evicted(
        table, shop, limit, kept):
    rosters = GroupCache(table.database, limit)
    other = builders.planned(table, node=4)
    for group in (shop, other):
        assert len(rosters.read(group.uuid)[1]) == 4
    with recorded(table.database.engine) as sent:
        assert rosters.read(shop.uuid)[0] == shop
    assert any('document' in each for each in sent.statements) is not kept


def test_a_group_that_is_not_read_again_is_forgotten(table, shop):
    """A deleted group is never read again, so memory does not grow."""
    now = [0.0]
    rosters = GroupCache(table.database, clock=lambda: now[0])
    other = builders.planned(table, node=4)
    for moment, group, is_known in (
            (0, shop, False), (MAX_IDLE_SECONDS, shop, True),
            (2 * MAX_IDLE_SECONDS + 1, other, False),
            (2 * MAX_IDLE_SECONDS + 1, shop, False),
            (3 * MAX_IDLE_SECONDS + 1, shop, True)):
        now[0] = float(moment)
        with recorded(table.database.engine) as sent:
            rosters.read(group.uuid)
        assert any('document' in each for each in sent.statements) is (
            not is_known), (moment, group.uuid)


def test_a_long_document_counts_towards_the_limit(table, shop):
    rosters = GroupCache(table.database, 100)
    rosters.read(shop.uuid)
    long = builders.planned(table, builders.a_group(document={
        'group': {'name': 'shop', 'members': ['x' * 512] * 100}}), web=None)
    rosters.read(long.uuid)
    with recorded(table.database.engine) as sent:
        rosters.read(long.uuid)
    assert any('document' in each for each in sent.statements)


def test_a_group_without_members_is_not_cached(table):
    """Thousands of such groups may never be deleted, and would fill the cache.
    """
    rosters = GroupCache(table.database)
    group = builders.planned(table)
    for _ in range(2):
        with recorded(table.database.engine) as sent:
            assert rosters.read(group.uuid) == (group, ())
    assert any('document' in each for each in sent.statements)


def test_a_group_larger_than_the_cache_is_read_correctly(table, shop):
    rosters = GroupCache(table.database, 3)
    for _ in range(2):
        assert rosters.read(shop.uuid)[1] == unstamped(
            table.members(shop.uuid))


def test_an_unknown_group_is_none(table, rosters):
    assert rosters.read(builders.new_uuid()) is None


@pytest.fixture
def sizes(monkeypatch):
    """The number of members that each statement reads."""
    read, found = group_state.read, []

    def noted(*arguments):
        state = read(*arguments)
        found.append(len(state.members))
        return state

    monkeypatch.setattr(group_state, 'read', noted)
    return found


def changed_long_ago(table, number):
    """A group and its members, which have changed one after the other."""
    group = builders.planned(table, node=number)
    members = table.members(group.uuid)
    for hours, member in enumerate(members):
        change(table, member, LONG_AGO + timedelta(hours=hours))
    return group, members


def change(table, member, changed_at, **values):
    """Write a member as a transaction does whose statement was sent at a
    time."""
    with table.database.writer() as session:
        session.execute(
            sa.update(MemberRow).where(MemberRow.id == member.id)
            .values(changed_at=changed_at, **values))


def states(found):
    return {member.id: member.state for member in found[1]}


def test_only_changed_members_are_read_again(table, rosters, sizes):
    group, members = changed_long_ago(table, 30)
    for _ in range(2):
        rosters.read(group.uuid)
    sizes.clear()
    rosters.read(group.uuid)
    table.claim(group.uuid, 'db/node', builders.new_uuid(), LATER)
    claimed_member = rosters.read(group.uuid)
    assert sum(state == MemberState.CLAIMED
               for state in states(claimed_member).values()) == 1
    rosters.read(group.uuid)
    # The member at the path is always read, for its alternates.
    rosters.read_for(group.uuid, 'db/node-20')
    assert sizes == [1, 2, 1, 2]


def test_a_change_that_was_committed_late_is_read(table, rosters, sizes):
    group, members = changed_long_ago(table, 30)
    for _ in range(2):
        rosters.read(group.uuid)
    sizes.clear()
    change(table, members[3], LONG_AGO + timedelta(hours=4),
           state=MemberState.LOST)
    assert states(rosters.read(group.uuid))[members[3].id] == MemberState.LOST
    assert sizes == [1, 30]


def test_a_change_at_the_time_of_the_last_read_change_is_read(
        table, rosters):
    group, members = changed_long_ago(table, 30)
    for _ in range(2):
        rosters.read(group.uuid)
    change(table, members[-1], LONG_AGO + timedelta(hours=29),
           state=MemberState.LOST)
    assert states(rosters.read(group.uuid))[members[-1].id] == MemberState.LOST


@pytest.fixture
def together(table, rosters, sizes):
    """The members of a group that were written at the same time, and that were
    read."""
    group = builders.planned(table, node=200)
    members = table.members(group.uuid)
    for member in members:
        change(table, member, LONG_AGO)
    for _ in range(2):
        rosters.read(group.uuid)
    sizes.clear()
    return members


HALF = timedelta(seconds=0.5)


def test_members_that_were_written_together_are_read_until_the_next_change(
        table, rosters, sizes, together):
    """Nothing shows whether another change will have the same time."""
    group = together[0].group_uuid
    change(table, together[7], LONG_AGO, state=MemberState.LOST)
    assert states(rosters.read(group))[together[7].id] == MemberState.LOST
    change(table, together[3], LONG_AGO + HALF, state=MemberState.LOST)
    for _ in range(2):
        assert states(rosters.read(group))[together[3].id] == MemberState.LOST
    assert sizes == [200, 200, 1]


@pytest.mark.parametrize('late, read', [
    (LONG_AGO + HALF / 2, [2]), (LONG_AGO - HALF, [1, 200])])
def test_a_change_that_was_committed_after_the_next_one_is_read(
        table, rosters, sizes, together, late, read):
    group = together[0].group_uuid
    change(table, together[3], LONG_AGO + HALF, state=MemberState.LOST)
    rosters.read(group)
    sizes.clear()
    change(table, together[8], late, state=MemberState.LOST)
    found = states(rosters.read(group))
    assert [found[together[number].id] for number in (3, 8, 9)] == [
        MemberState.LOST, MemberState.LOST, MemberState.PLANNED]
    assert sizes == read


def test_members_that_change_together_later_are_read_once_more(
        table, rosters, sizes, together):
    """For example, when all holds were written."""
    group = together[0].group_uuid
    for member in together[:100]:
        change(table, member, LONG_AGO + HALF / 2)
    change(table, together[150], LONG_AGO + HALF)
    for _ in range(2):
        rosters.read(group)
    assert sizes == [200, 1]


def test_members_that_old_services_wrote_have_no_time(table, rosters):
    group, members = changed_long_ago(table, 3)
    for member in members:
        change(table, member, None)
    for state in MemberState.LOST, MemberState.PLANNED:
        change(table, members[1], None, state=state)
        assert states(rosters.read(group.uuid))[members[1].id] == state


def test_a_member_that_was_deleted_long_ago_is_gone(table, rosters):
    group, members = changed_long_ago(table, 30)
    for _ in range(2):
        rosters.read(group.uuid)
    with table.database.writer() as session:
        session.execute(sa.delete(MemberRow).where(
            MemberRow.id == members[7].id))
    assert states(rosters.read(group.uuid)).keys() == {
        member.id for member in members} - {members[7].id}


@pytest.mark.parametrize('most', [1, cached_group.MAX_RECENT_MEMBERS])
@pytest.mark.parametrize('seed', range(3))
def test_the_cache_equals_the_table_after_any_changes(
        table, rosters, seed, most, monkeypatch):
    monkeypatch.setattr(cached_group, 'MAX_RECENT_MEMBERS', most)
    chance = random.Random(seed)
    group, members = changed_long_ago(table, 12)
    for _ in range(60):
        for _ in range(chance.randint(1, 3)):
            at = chance.choice(members)
            # No two statements have the same time.
            changed_at = LONG_AGO + timedelta(hours=12 * chance.random())
            if chance.random() < 0.8:
                change(table, at, changed_at, state=chance.choice(
                    [MemberState.PLANNED, MemberState.LOST]))
            elif chance.random() < 0.7:
                change(table, at, changed_at, hold=builders.new_uuid())
            else:
                with table.database.writer() as session:
                    session.execute(sa.delete(MemberRow).where(
                        MemberRow.id == at.id))
        found = rosters.read(group.uuid)[1]
        assert sorted(found, key=by_id) == sorted(
            unstamped(table.members(group.uuid)), key=by_id)


def by_id(member):
    return member.id
