# SPDX-License-Identifier: Apache-2.0
"""Another engine finishes the work of an engine, and no two engines do the
same work."""

from datetime import timedelta
import itertools
import uuid

import pytest

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.holds.client import HoldClient
from nova_holistic.messaging.errors import GroupBusy
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState, Task)
from nova_holistic.table.store import PlacementTable
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.world import shop, SMALL

LONG = timedelta(minutes=10)


def ask(world, document=None):
    """Write a create request that an engine must plan; returns the UUID of the
    group."""
    group = GroupRecord(
        str(uuid.uuid4()), 'shop', 'blue', 'ann', GroupStatus.PLANNING,
        document or shop(), 'spread', created_at=world.now,
        updated_at=world.now, task=Task.PLANNING, pending={'lease': 60})
    world.table.create_group(group)
    return group.uuid


def take(world, group, engine):
    return world.table.tasks.take(group, engine, world.now, world.now - LONG)


def test_a_planned_group_gets_the_requested_lease(world):
    group = ask(world)
    world.planner.perform(take(world, group, 'one'))
    planned = world.table.get_group(group)
    assert planned.status == GroupStatus.PLANNED
    assert planned.lease_expires_at == world.now + timedelta(seconds=60)
    assert (planned.task, planned.pending, planned.engine) == (
        None, None, None)
    world.assert_agreement()


def test_a_task_belongs_to_one_engine_at_a_time(world):
    group = ask(world)
    assert take(world, group, 'one')
    assert take(world, group, 'two') is None
    world.wait(601)
    assert take(world, group, 'two').attempts == 2


def test_a_task_interrupted_at_any_call_is_finished_by_another(world):
    deaths = 0
    for calls in itertools.count():
        group = ask(world)
        record = take(world, group, 'one')
        life = CallBudget(calls)
        try:
            world.planner_with(
                KillableProxy(life, world.table),
                HoldClient(KillableProxy(life, world.placement.adapter)),
            ).perform(record)
        except ProcessKilled:
            deaths += 1
        world.wait(601)
        record = take(world, group, 'two')
        if record is not None:
            world.planner.perform(record)
        assert world.table.get_group(group).status == GroupStatus.PLANNED
        assert world.vcpus_used() == 3
        world.assert_agreement()
        world.lifecycle.delete(group)
        if not life.over:
            break
    assert deaths > 5


class Interrupted:
    """A component that calls a function just before or after one of its
    methods."""

    def __init__(self, thing, **events):
        self._thing = thing
        self._events = events

    def __getattr__(self, name):
        method = getattr(self._thing, name)

        def call(*args, **kwargs):
            before = self._events.pop(f'before_{name}', None)
            if before:
                before()
            answer = method(*args, **kwargs)
            after = self._events.pop(f'after_{name}', None)
            if after:
                after()
            return answer

        return call


@pytest.mark.parametrize('when', ['before_put', 'after_put'])
def test_a_slow_engine_that_lost_its_group_holds_nothing(world, when):
    group = ask(world)
    record = take(world, group, 'slow')

    def others_plan_it():
        world.wait(601)
        world.planner.perform(take(world, group, 'quick'))

    slow = world.planner_with(
        world.table, Interrupted(world.holds, **{when: others_plan_it}))
    with pytest.raises(OwnershipLost):
        slow.perform(record)
    assert world.table.get_group(group).status == GroupStatus.PLANNED
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_a_slow_engine_cannot_undo_the_plan_of_its_successor(world):
    group = ask(world, shop(nodes=3))
    record = take(world, group, 'slow')
    small = world.table.get_group(group)
    world.table.update_group(group, [small.status], document=shop())
    world.wait(601)
    world.planner.perform(take(world, group, 'quick'))
    # According to the data that the slow engine has read, the group cannot be
    # placed.
    with pytest.raises(OwnershipLost):
        world.planner.perform(record)
    assert world.table.get_group(group).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_the_reconciler_skips_groups_taken_by_an_engine(world):
    group = ask(world)
    take(world, group, 'one')
    world.wait_out_grace()
    world.reconciler.reconcile()
    assert world.table.get_group(group).status == GroupStatus.PLANNING


def test_a_group_deleted_during_a_replan_holds_nothing(world):
    group = world.create()
    row = world.table.members(group.uuid)[0]
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.REPLANNING, {}, [GroupStatus.PLANNED]), world.now)
    record = take(world, group.uuid, 'one')
    planner = world.planner_with(world.table, Interrupted(
        world.holds, after_put=lambda: world.lifecycle.delete(group.uuid)))
    with pytest.raises(OwnershipLost):
        planner.perform(record)
    assert world.vcpus_used() == 0


def test_an_unplaceable_group_is_not_released_during_a_replan(world):
    world.inventory.down.update(world.hosts)
    group = world.create()
    assert group.status == GroupStatus.UNPLACEABLE
    world.inventory.down.clear()
    assert world.table.tasks.request(
        group.uuid, NewTask(Task.REPLANNING, {}, [group.status]), world.now)
    record = take(world, group.uuid, 'one')

    def somebody_releases_it():
        with pytest.raises(GroupBusy):
            world.lifecycle.release(group.uuid)

    world.planner_with(world.table, Interrupted(
        world.holds, before_put=somebody_releases_it)).perform(record)
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED
    world.assert_agreement()


def test_added_members_are_claimable_once_the_task_is_finished(world):
    group = world.create()
    for path in world.states(group):
        world.build(group, path)
    world.table.settle(group.uuid, world.now)
    assert world.table.get_group(group.uuid).status == GroupStatus.COMPLETE
    document = shop()['group']
    document['members'].append({'name': 'cache', 'resources': SMALL})
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': document}, [GroupStatus.COMPLETE]),
        world.now)
    record = take(world, group.uuid, 'one')
    statuses = []
    table = PlacementTable(world.table.database)
    table.tasks = Interrupted(table.tasks, after_finish=lambda: (
        statuses.append(world.table.get_group(group.uuid).status)))
    world.planner_with(table, world.holds).perform(record)
    assert statuses == [GroupStatus.BUILDING]
