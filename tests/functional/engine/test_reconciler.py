# SPDX-License-Identifier: Apache-2.0
"""Wherever a process is killed, table and Placement agree after a pass."""

import itertools
import uuid

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import GroupStatus, MemberState, Place
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.world import shop
from tests.unit.table import builders


def live_through(world, work):
    """Kill processes after 0, 1, 2 and more calls, until one finishes the
    work.

    :param work: called with a table and a hold client that may fail
    :yields: the number of calls of each killed process
    """
    for calls in itertools.count():
        life = CallBudget(calls)
        table = KillableProxy(life, world.table)
        holds = HoldClient(KillableProxy(life, world.placement.adapter))
        try:
            work(table, holds)
        except ProcessKilled:
            yield calls
        if not life.over:
            return


def test_a_consistent_group_needs_no_repair(world):
    group = world.create()
    world.build(group, 'web')
    world.wait_out_grace()
    assert world.reconciler.reconcile() == {}
    world.assert_agreement()


def test_a_planner_interrupted_at_any_call_leaves_no_hold(world):
    def work(table, holds):
        world.planner_with(table, holds).create(
            shop(), project_id='blue', user_id='ann')

    ends = []
    for _ in live_through(world, work):
        world.reconcile_members()
        world.assert_agreement()
        for group in world.table.list_groups():
            ends.append(str(group.status))
            world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == 0
    # At the first call no group exists. After the last holds the group is
    # planned, and only alternates or the response to the client are missing.
    failed = ends.count('error')
    assert failed >= 4 and ends[failed:]
    assert ends == ['error'] * failed + ['planned'] * (len(ends) - failed)
    assert ends[-1] == 'planned'


def test_a_release_interrupted_at_any_call_is_finished(world):
    groups = []

    def work(table, holds):
        groups.append(world.create(shop(1)))
        world.lifecycle_with(table, holds).release(groups[-1].uuid)

    states = None
    for _ in live_through(world, work):
        world.reconcile_members()
        world.assert_agreement()
        # Before the table contains the release, nothing has happened.
        states = set(world.states(groups[-1]).values())
        assert states in ({'planned'}, {'released'})
        world.lifecycle.release(groups[-1].uuid)
    assert states == {'released'}
    assert world.vcpus_used() == 0


def test_a_deletion_interrupted_at_any_call_can_be_repeated(world):
    groups = []

    def work(table, holds):
        groups.append(world.create(shop(1)))
        world.lifecycle_with(table, holds).delete(groups[-1].uuid)

    for _ in live_through(world, work):
        world.reconcile_members()
        world.assert_agreement()
        if world.table.get_group(groups[-1].uuid):
            world.lifecycle.delete(groups[-1].uuid)
        assert world.vcpus_used() == 0
    assert world.table.list_groups() == ()


@pytest.mark.parametrize('status', ['ERROR', None])
def test_a_claim_interrupted_at_any_call_is_undone(world, status):
    """The scheduler was killed, and Nova gave up the server."""
    group = world.create(lease=0)

    def work(table, holds):
        instance = str(uuid.uuid4())
        if status:
            world.instances.set(instance, status)
        row = table.claim(group.uuid, 'web', instance, world.now)
        holds.swap(row, instance, 'blue', 'ann')

    for _ in live_through(world, work):
        world.reconcile_members()
        assert set(world.states(group).values()) == {'planned'}
        assert world.table.get_group(group.uuid).status == 'planned'
        world.assert_agreement()
    # The last scheduler was not killed, but no conductor received its
    # response.
    world.wait_out_grace()
    assert world.reconciler.reconcile() == {'unclaimed': 1}
    assert set(world.states(group).values()) == {'planned'}
    world.assert_agreement()


def test_a_pass_interrupted_at_any_call_is_completed_by_the_next(world):
    group = world.create(shop(1), lease=0)

    def work(table, holds):
        for row in world.table.members(group.uuid):
            if row.state == MemberState.PLANNED:
                world.swap(world.claim(group, row.member.path))
        world.wait_out_grace()
        type(world.reconciler)(world.components(
            table=table, holds=holds)).reconcile()

    for _ in live_through(world, work):
        world.wait_out_grace()
        world.reconciler.reconcile()
        assert set(world.states(group).values()) == {'planned'}
        world.assert_agreement()


def test_a_claim_of_a_building_server_is_kept(world):
    group = world.create()
    row = world.claim(group, 'web')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'BUILD')
    world.wait_out_grace()
    assert world.reconciler.reconcile() == {}
    assert world.states(group)['web'] == 'claimed'
    assert world.holds.has(row.instance_uuid, row)


def test_an_undone_claim_can_be_claimed_again(world):
    group = world.create(lease=0)
    lost = world.claim(group, 'web')
    world.swap(lost)
    world.wait_out_grace()
    world.reconciler.reconcile()
    row = world.build(group, 'web')
    assert row.id == lost.id
    world.assert_agreement()


def test_a_claim_without_capacity_becomes_lost(world):
    group = world.create(lease=0)
    row = world.claim(group, 'web')
    world.holds.drop([row.hold])
    world.placement.allocate(row.place.provider, {'VCPU': 2 - others(
        world, group, row)})
    world.wait_out_grace()
    world.conf.set_override('replans', 0, group='reconciler')
    world.reconciler.reconcile()
    assert world.states(group)['web'] == 'lost'


def others(world, group, row):
    """The number of additional planned members on the row's host."""
    return sum(m.place.host == row.place.host and m.id != row.id
               for m in world.table.members(group.uuid))


def test_an_active_server_makes_its_member_built(world):
    group = world.create()
    row = world.claim(group, 'web')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'ACTIVE', row.place.host)
    assert world.reconciler.reconcile() == {'built': 1}
    assert world.states(group)['web'] == 'built'
    assert world.table.get_group(group.uuid).status == 'building'
    world.assert_agreement()


def test_a_server_in_error_on_its_host_makes_its_member_failed(world):
    group = world.create()
    row = world.claim(group, 'web')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'ERROR', row.place.host)
    world.reconciler.reconcile()
    assert world.states(group)['web'] == 'failed'
    assert world.holds.has(row.instance_uuid, row)


@pytest.mark.leaves('a server that Nova has moved, and Placement has not')
def test_the_place_of_a_moved_server_is_updated(world):
    group = world.create()
    row = world.build(group, 'web')
    target = next(h for h in world.hosts if h != row.place.host)
    world.instances.set(row.instance_uuid, 'ACTIVE', target)
    assert world.reconciler.reconcile() == {'moved': 1}
    assert world.table.members(group.uuid)[0].place == Place(
        target, f'{target}.example.org', world.hosts[target],
        (target[0],), (('power', target[-1]),))


@pytest.mark.parametrize('status, host', [
    ('SHELVED_OFFLOADED', None), ('VERIFY_RESIZE', 'b2')])
def test_a_shelved_or_resizing_server_keeps_its_place(world, status, host):
    group = world.create()
    row = world.build(group, 'web')
    world.instances.set(row.instance_uuid, status, host)
    assert world.reconciler.reconcile() == {}
    assert world.table.members(group.uuid)[0].place == row.place


def test_a_hold_removed_by_an_audit_is_put_back(world):
    group = world.create()
    web = world.table.members(group.uuid)[0]
    world.holds.drop([web.hold])
    assert world.reconciler.reconcile() == {'vanished': 1}
    world.assert_agreement()
    assert set(world.states(group).values()) == {'planned'}


def test_a_member_whose_capacity_was_taken_becomes_lost(world):
    group = world.create()
    row = world.table.members(group.uuid)[0]
    world.holds.drop([row.hold])
    world.placement.allocate(row.place.provider, {'VCPU': 2 - others(
        world, group, row)})
    world.conf.set_override('replans', 0, group='reconciler')
    world.reconciler.reconcile()
    assert world.states(group)['web'] == 'lost'
    assert world.reconciler.reconcile() == {}


def test_a_pass_expires_leases(world):
    group = world.create(lease=60)
    world.wait(60)
    assert world.reconciler.reconcile() == {'expired': 1}
    assert set(world.states(group).values()) == {'released'}
    world.assert_agreement()


def test_a_group_being_planned_is_not_changed(world):
    group = world.create()
    builders.force_status(world.table, group.uuid, GroupStatus.PLANNING)
    assert world.reconciler.reconcile() == {}
    assert world.table.get_group(group.uuid).status == 'planning'


def test_an_abandoned_planner_that_fails_after_its_put_holds_nothing(world):
    class Slow:
        """A pass finds the group abandoned while its holds are written."""

        def put(self, *args):
            world.wait_out_grace()
            world.reconciler.reconcile()
            world.holds.put(*args)
            raise ProcessKilled

        def drop(self, *args):
            raise ProcessKilled

    with pytest.raises(ProcessKilled):
        world.planner_with(world.table, Slow()).create(
            shop(), project_id='blue', user_id='ann')
    assert world.vcpus_used() == 3
    world.reconcile_members()
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_an_abandoned_planner_drops_its_holds(world):
    class Slow:
        """A pass finds the group abandoned while its holds are written."""

        def put(self, *args):
            world.wait_out_grace()
            assert world.reconciler.reconcile() == {'abandoned': 1}
            world.holds.put(*args)

        def __getattr__(self, name):
            return getattr(world.holds, name)

    group = world.planner_with(world.table, Slow()).create(
        shop(), project_id='blue', user_id='ann')
    assert group.status == GroupStatus.ERROR
    assert world.vcpus_used() == 0
    world.assert_agreement()
