# SPDX-License-Identifier: Apache-2.0
"""Members that were lost with their host are held there again when the host
returns."""

import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.engine.member_rows import place_of
from nova_holistic.holds.client import HoldClient
from nova_holistic.solver.observer import observing
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import GroupRow
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.world import RACKS
from tests.unit.table import builders

WHOLE = {'VCPU': 2, 'MEMORY_MB': 1024}
PAIR = {'group': {
    'name': 'pair', 'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
    'members': [{'name': 'node', 'count': 2, 'resources': WHOLE}]}}
QUIET = {'group': {'name': 'quiet', 'members': [
    {'name': 'node', 'count': 2, 'resources': WHOLE}]}}


def row(world, group, number=0):
    return world.table.members(group.uuid)[number]


def lose(world, group):
    """Keep the host of the first member unavailable until the grace period has
    ended.

    :returns: its row before it was lost
    """
    before = row(world, group)
    world.inventory.down = {before.place.host}
    world.conf.set_override('replans', 0, group='reconciler')
    world.wait_out_host_grace()
    assert world.reconciler.reconcile() == {'stranded': 1}
    assert row(world, group).state == MemberState.LOST
    return before


def fill(world, *but):
    """Fill all other hosts with other servers."""
    for host, provider in world.hosts.items():
        left = 2 - world.placement.used(provider)['VCPU']
        if left and host not in but:
            world.placement.allocate(provider, {'VCPU': left})


def let_replan(world):
    world.conf.set_override('replans', 10, group='reconciler')


def test_a_lost_member_returns_with_its_host(world):
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    fill(world, before.place.host)
    let_replan(world)
    assert world.reconciler.reconcile() == {}
    assert world.table.get_group(group.uuid).reasons
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {'restored': 1}
    after = row(world, group)
    assert (after.state, after.place) == (MemberState.PLANNED, before.place)
    assert world.holds.has(after.hold, after)
    assert world.table.get_group(group.uuid).reasons == ()
    # This is the plan that the group had, with the same bound.
    assert world.table.get_group(
        group.uuid).objective_value == group.objective_value
    assert group.objective_value['kept'] == 0
    assert world.reconciler.reconcile() == {}
    assert world.table.outages.given_up() == frozenset()


def test_a_host_returns_before_anything_is_planned(world):
    """Other hosts also have capacity, and the solver is not called."""
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    let_replan(world)
    world.inventory.down = set()
    calls = []
    with observing(lambda question, answer: calls.append(answer)):
        assert world.reconciler.reconcile() == {'restored': 1}
    assert calls == []
    assert row(world, group).place == before.place


def test_all_groups_return_at_once(world):
    """This does not depend on the number of groups that a pass may plan
    again."""
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {'restored': 1}
    assert row(world, group).place == before.place


def test_a_requested_replan_also_returns_members(world):
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    world.table.outages.observe((), world.now)
    world.inventory.down = set()
    assert world.planner.replan(group.uuid).reasons == ()
    assert row(world, group).place == before.place


def test_a_member_whose_former_room_was_taken_gets_another_place(world):
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    world.placement.allocate(before.place.provider, {'VCPU': 1})
    let_replan(world)
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {'replanned': 1}
    assert row(world, group).place.host != before.place.host
    assert world.table.outages.observe((), world.now) == {}
    assert world.table.outages.returned() == frozenset()


def test_a_member_does_not_return_against_a_policy(world):
    """Another member has moved into its rack in the meantime."""
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    other = row(world, group, 1)
    (same_rack_host,) = {host for host in RACKS if RACKS[host] == RACKS[
        before.place.host]} - {before.place.host}
    world.holds.drop([other.hold])
    moved = world.placement.allocate(world.hosts[same_rack_host], WHOLE)
    builders.force_state(world.table, other.id, MemberState.BUILT)
    assert world.table.change_state(other.id, [MemberState.BUILT],
                                    MemberState.BUILT, world.now, held=False,
                                    instance_uuid=moved, place=world_place(
                                        world, same_rack_host))
    world.instances.set(moved, 'ACTIVE', same_rack_host)
    let_replan(world)
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {'replanned': 1}
    assert RACKS[row(world, group).place.host] != RACKS[same_rack_host]


def world_place(world, name):
    return next(place_of(host) for host in world.inventory.snapshot().hosts
                if host.name == name)


def test_those_that_can_return_do_when_others_cannot(world):
    group = world.create(QUIET, lease=0)
    first, second = world.table.members(group.uuid)
    world.inventory.down = {first.place.host, second.place.host}
    world.conf.set_override('replans', 0, group='reconciler')
    world.conf.set_override('host_percent', 50, group='reconciler')
    world.wait_out_host_grace()
    assert world.reconciler.reconcile() == {'stranded': 2}
    world.placement.allocate(first.place.provider, {'VCPU': 1})
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {'restored': 1}
    assert world.states(group) == {'node-0': 'lost', 'node-1': 'planned'}
    assert row(world, group, 1).place == second.place


def test_a_crash_during_a_return_leaves_no_hold_without_a_member(world):
    for calls in itertools.count():
        group = world.create(PAIR, lease=0)
        before = lose(world, group)
        world.inventory.down = set()
        world.table.outages.observe((), world.now)
        life = CallBudget(calls)
        planner = world.planner_with(
            KillableProxy(life, world.table),
            HoldClient(KillableProxy(life, world.placement.adapter)))
        try:
            planner.restore(group.uuid)
        except ProcessKilled:
            pass
        let_replan(world)
        world.reconcile_members()
        assert set(world.states(group).values()) == {'planned'}
        assert row(world, group).place == before.place
        world.assert_nothing_left()
        world.lifecycle.delete(group.uuid)
        if not life.over:
            assert calls > 5
            return


@pytest.mark.parametrize('end', ['release', 'delete'])
def test_a_group_given_back_while_it_returns_holds_nothing(world, end):
    group = world.create(PAIR, lease=0)
    lose(world, group)
    world.inventory.down = set()
    world.table.outages.observe((), world.now)

    class Meanwhile:
        """The client releases the group just before the hold is written."""

        def put(self, *args):
            getattr(world.lifecycle, end)(group.uuid)
            world.holds.put(*args)

        def __getattr__(self, name):
            return getattr(world.holds, name)

    world.planner_with(world.table, Meanwhile()).restore(group.uuid)
    world.reconcile_members()
    assert set(world.states(group).values()) <= {'released'}
    assert world.vcpus_used() == 0


def test_passes_and_replans_leave_the_hold_of_a_returning_member_alone(world):
    """Both run after the new hold is written and before the table accepts
    it."""
    group = world.create(PAIR, lease=0)
    before = lose(world, group)
    world.inventory.down = set()
    world.table.outages.observe((), world.now)
    passes = []

    class Meanwhile:
        def put(self, *args):
            world.holds.put(*args)
            passes.append(world.reconciler.reconcile())
            assert world.planner.replan(group.uuid).reasons == ()
            assert world.vcpus_used() == 2 * 2

        def __getattr__(self, name):
            return getattr(world.holds, name)

    assert world.planner_with(world.table, Meanwhile()).restore(group.uuid)
    assert passes == [{}]
    assert row(world, group).place == before.place
    world.assert_nothing_left()


def test_a_group_with_an_invalid_document_gets_no_place_back(world, caplog):
    """Its policy is no longer installed. The other groups are restored."""
    group = world.create(PAIR, lease=0)
    lose(world, group)
    world.inventory.down = set()
    world.table.outages.observe((), world.now)
    with world.table.database.writer() as session:
        session.execute(sa.update(GroupRow).where(
            GroupRow.uuid == group.uuid).values(document={
                **PAIR['group'], 'policies': [{'type': 'not-installed'}]}))
    planner = world.planner_with(world.table, world.holds)
    assert not planner.restore(group.uuid)
    assert row(world, group).state == MemberState.LOST
    assert 'its document is not valid' in caplog.text
