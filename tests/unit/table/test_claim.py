# SPDX-License-Identifier: Apache-2.0
"""A member has at most one instance, and an instance at most one member, also
for concurrent claims."""

from concurrent.futures import ThreadPoolExecutor
import dataclasses
import threading

import pytest

from nova_holistic.table.changes.claim import SeenRows, Standing
from nova_holistic.table import errors
from nova_holistic.table.records import GroupStatus, MemberState
from tests.statements import recorded
from tests.unit.table import builders

NOON = builders.NOON


def claim(table, group, path, instance=None):
    return table.claim(
        group.uuid, path, instance or builders.new_uuid(), NOON)


def at_once(calls):
    """Results or refusals of calls that start at the same moment."""
    gate = threading.Barrier(len(calls))

    def run(call):
        gate.wait()
        try:
            return call()
        except errors.ClaimRefused as refusal:
            return refusal

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def statements(table, call):
    """The number of SQL statements of a call, without BEGIN."""
    with recorded(table.database.engine) as sent:
        call()
    return len(sent.statements)


def test_a_claimed_member_belongs_to_the_instance(table, shop):
    instance = builders.new_uuid()
    row = claim(table, shop, 'db/web', instance)
    assert (row.state, row.instance_uuid) == (MemberState.CLAIMED, instance)
    assert row == table.member_of_instance(instance)
    assert table.get_group(shop.uuid).status == GroupStatus.BUILDING


def test_servers_of_a_counted_member_are_claimed_in_order(table):
    group = builders.planned(table, node=11)
    got = [claim(table, group, 'db/node').member.path for _ in range(11)]
    assert got == [f'db/node-{index}' for index in range(11)]


def test_a_repeated_claim_returns_the_same_row(table, shop):
    instance = builders.new_uuid()
    assert claim(table, shop, 'db/node', instance) == claim(
        table, shop, 'db/node', instance)


def test_an_instance_cannot_claim_a_second_member(table, shop):
    instance = builders.new_uuid()
    claim(table, shop, 'db/node', instance)
    with pytest.raises(errors.MemberNotPlannable, match="'db/node-0'"):
        claim(table, shop, 'db/web', instance)


def test_a_taken_member_is_refused(table, shop):
    claim(table, shop, 'db/node-1')
    with pytest.raises(errors.MemberTaken, match="'db/node-1'"):
        claim(table, shop, 'db/node-1')


def test_a_fully_claimed_counted_member_is_refused(table, shop):
    for _ in range(3):
        claim(table, shop, 'db/node')
    with pytest.raises(errors.MemberTaken):
        claim(table, shop, 'db/node')


def test_an_unknown_member_or_group_is_refused(table, shop):
    with pytest.raises(errors.MemberUnknown, match='has no member'):
        claim(table, shop, 'db')
    with pytest.raises(errors.GroupUnknown):
        claim(table, builders.a_group(), 'db/web')


def test_a_released_member_is_refused(table, shop):
    table.release([table.members(shop.uuid)[0].hold], NOON)
    with pytest.raises(errors.MemberReleased):
        claim(table, shop, 'db/web')


def test_a_lost_member_is_refused(table, shop):
    web = table.members(shop.uuid)[0]
    table.change_state(
        web.id, [MemberState.PLANNED], MemberState.LOST, NOON)
    with pytest.raises(errors.MemberNotPlannable, match='lost'):
        claim(table, shop, 'db/web')


def test_a_claim_in_a_group_being_planned_is_refused(table):
    group = builders.planned(
        table, builders.a_group(GroupStatus.PLANNING), web=None)
    with pytest.raises(errors.MemberNotPlannable, match='planning'):
        claim(table, group, 'db/web')


@pytest.mark.parametrize('round_', range(20))
def test_of_two_instances_for_one_member_exactly_one_wins(
        table, shop, round_):
    wanted = builders.new_uuid(), builders.new_uuid()
    results = at_once([
        lambda instance=instance: claim(table, shop, 'db/web', instance)
        for instance in wanted])
    won = [r for r in results if not isinstance(r, Exception)]
    assert len(won) == 1
    assert [type(r) for r in results if isinstance(r, Exception)] == [
        errors.MemberTaken]
    assert table.member_of_instance(won[0].instance_uuid).id == won[0].id


def test_concurrent_claims_of_all_servers_all_succeed(table):
    group = builders.planned(table, node=6)
    results = at_once([lambda: claim(table, group, 'db/node')] * 6)
    assert sorted(r.member.path for r in results) == [
        f'db/node-{index}' for index in range(6)]


def test_concurrent_claims_of_one_instance_get_one_row(table):
    group = builders.planned(table, node=6)
    instance = builders.new_uuid()
    results = at_once([lambda: claim(table, group, 'db/node', instance)] * 6)
    assert len({r.id for r in results}) == 1
    assert len([m for m in table.members(group.uuid)
                if m.state == MemberState.CLAIMED]) == 1


@pytest.mark.parametrize('path', ['db/node', 'db/node-2'])
def test_the_statements_of_a_claim_do_not_grow_with_the_group(table, path):
    small = builders.planned(table, node=3)
    large = builders.planned(table, node=300)
    counts = [statements(table, lambda: claim(table, group, path))
              for group in (small, large)]
    # One of them inserts the events of the claim.
    assert counts[0] == counts[1] <= 6


def test_a_claim_reports_whether_it_is_repeated(table, shop):
    instance = builders.new_uuid()
    first, second = (
        table.take(shop.uuid, 'db/web', instance, NOON) for _ in range(2))
    assert (first.repeated, second.repeated) == (False, True)
    assert first.row == second.row


def test_a_claim_ends_the_hold_and_records_the_owner(table, shop):
    row = claim(table, shop, 'db/web')
    assert not table.member_of_instance(row.instance_uuid).held
    node = table.members(shop.uuid)[1]
    assert table.standing([row.id, node.id]) == {row.id: Standing(
        row.instance_uuid, GroupStatus.BUILDING)}


def test_a_row_that_was_read_before_saves_a_query(table, shop):
    web = table.group_cache.read(shop.uuid)[1][0]
    assert statements(table, lambda: table.take(
        shop.uuid, 'db/web', builders.new_uuid(), NOON, SeenRows([web]))) == 4


def test_only_the_row_and_the_event_of_a_claim_are_written(table, shop):
    """The group is already building, and the alternates are known."""
    web, node, *_ = table.members(shop.uuid)
    claim(table, shop, web.member.path)
    seen = SeenRows([node], are_bare=False, is_planned=False)
    with recorded(table.database.engine) as sent:
        won = table.take(shop.uuid, node.member.path, builders.new_uuid(),
                         NOON, seen)
    assert [text.split()[:3] for text in sent.statements] == [
        ['UPDATE', 'holistic_members', 'SET'],
        ['INSERT', 'INTO', 'holistic_events']]
    assert won.row.alternates == node.alternates


def test_a_claim_shows_that_its_group_was_planned_again_meanwhile(
        table, shop):
    """The group was building when it was read, so the claim does not change
    its status."""
    web, node, *_ = table.members(shop.uuid)
    first = claim(table, shop, web.member.path)
    seen = SeenRows([node], are_bare=False, is_planned=False)
    table.change_state(first.id, [MemberState.CLAIMED], MemberState.PLANNED,
                       NOON, instance_uuid=None, held=True)
    table.settle(shop.uuid, NOON)
    won = table.take(shop.uuid, node.member.path, builders.new_uuid(), NOON,
                     seen)
    assert table.standing([won.row.id])[won.row.id].status == (
        GroupStatus.PLANNED)
    table.settle(shop.uuid, NOON)
    assert table.get_group(shop.uuid).status == GroupStatus.BUILDING


def test_a_claimed_row_has_its_alternates(table, shop):
    """This also holds if the row was read before without them."""
    web, node, *_ = table.members(shop.uuid)
    assert web.alternates and node.alternates
    bare = table.group_cache.read(shop.uuid)[1][0]
    assert not bare.alternates
    claimed = table.take(
        shop.uuid, 'db/web', builders.new_uuid(), NOON, SeenRows([bare])).row
    assert claimed.alternates == web.alternates
    assert claim(table, shop, node.member.path).alternates == node.alternates


def test_an_outdated_row_that_is_taken_is_not_claimed_again(
        table, shop):
    nodes = table.members(shop.uuid)[1:]
    taken = claim(table, shop, 'db/node')
    won = table.take(
        shop.uuid, 'db/node', builders.new_uuid(), NOON, SeenRows(nodes[:1]))
    assert taken.member.path == 'db/node-0'
    assert won.row.member.path == 'db/node-1'


def test_an_outdated_row_that_moved_is_read_again(
        table, shop):
    seen = table.members(shop.uuid)[0]
    table.change_state(
        seen.id, [MemberState.PLANNED], MemberState.LOST, NOON, held=False)
    renewed = dataclasses.replace(
        seen, state=MemberState.LOST, hold=builders.new_uuid(), held=True,
        place=dataclasses.replace(seen.place, host='cmp-8'))
    assert table.offer_places([renewed])
    table.accept_places([renewed.hold], NOON)
    won = table.take(shop.uuid, 'db/web', builders.new_uuid(), NOON,
                     SeenRows([seen]))
    assert (won.row.place.host, won.row.hold) == ('cmp-8', renewed.hold)


def test_an_instance_with_a_row_gets_none_of_the_rows_read_before(table, shop):
    instance = builders.new_uuid()
    nodes = table.members(shop.uuid)[1:]
    first = table.take(shop.uuid, 'db/node', instance, NOON,
                       SeenRows(nodes[:1]))
    again = table.take(shop.uuid, 'db/node', instance, NOON,
                       SeenRows(nodes[1:]))
    assert again.repeated and again.row == first.row
