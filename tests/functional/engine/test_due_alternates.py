# SPDX-License-Identifier: Apache-2.0
"""A group is planned and held before its members have alternates. One engine
at a time finds the alternates, while the group may change."""

from concurrent import futures
from dataclasses import replace
from datetime import timedelta
import itertools
import uuid

import pytest

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.engine.member_rows import place_of
from nova_holistic.service.retries import LONGEST_INTERVAL
from nova_holistic.service.work_queues import AlternatesQueue
from nova_holistic.service.workers import Workers
from nova_holistic.table.changes import member_moves
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState, Task)
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.updates import revised, rows, take, update
from tests.functional.engine.world import shop

APART = revised(policies=[{'type': 'anti-affinity', 'level': 'host'}])


class Between:
    """An inventory that calls a function before it returns its first
    snapshot."""

    def __init__(self, inventory, event):
        self._inventory = inventory
        self._events = iter([event])

    def __getattr__(self, name):
        return getattr(self._inventory, name)

    def cached_snapshot(self):
        next(self._events, lambda: None)()
        return self._inventory.cached_snapshot()

    uncounted_snapshot = recent_snapshot = cached_snapshot


def planned(world, document=None):
    """A group that an engine has planned without alternates."""
    group = GroupRecord(
        str(uuid.uuid4()), 'shop', 'blue', 'ann', GroupStatus.PLANNING,
        document or shop(), 'spread', created_at=world.now,
        updated_at=world.now, task=Task.PLANNING, pending={})
    world.table.create_group(group)
    world.planner.perform(take(world, group))
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED
    return group


def queue(world, engine='one', planner=None):
    return AlternatesQueue(world.conf, world.table, planner or world.planner,
                           engine, world.clock)


def find(world, group, engine='one', planner=None):
    alternates = queue(world, engine, planner)
    alternates.do(alternates.take(group.uuid))


def wait_for_idle(workers):
    """Whether the workers have ended all that they have begun."""
    return not futures.wait(set(workers._pending), 60).not_done


def while_snapshot(world, event):
    """A planner that calls a function before it reads its first snapshot."""
    inventory = world.inventory
    world.inventory = Between(inventory, event)
    try:
        return world.planner_with(world.table, world.holds)
    finally:
        world.inventory = inventory


def alternates(world, group):
    return {path: [place.host for place in row.alternates]
            for path, row in rows(world, group).items()}


def choices(world, group):
    """Every choice of one host for each member."""
    found = rows(world, group)
    places = [[row.place.host, *(p.host for p in row.alternates)]
              for row in found.values()]
    return [dict(zip(found, chosen))
            for chosen in itertools.product(*places)]


def test_a_group_is_planned_and_held_before_it_has_alternates(world):
    group = planned(world)
    assert alternates(world, group) == {
        'web': [], 'db/node-0': [], 'db/node-1': []}
    assert all(world.holds.exists(row.hold) is not None
               for row in rows(world, group).values())
    assert queue(world).waiting(10) == (group.uuid,)
    before = rows(world, group)
    find(world, group)
    assert queue(world).waiting(10) == ()
    found = rows(world, group)
    assert all(row.alternates for row in found.values())
    assert {path: row.hold for path, row in found.items()} == {
        path: row.hold for path, row in before.items()}
    for chosen in choices(world, group):
        assert chosen['db/node-0'][0] != chosen['db/node-1'][0]


def test_members_are_claimed_before_they_have_alternates(world):
    group = planned(world)
    world.table.claim(group.uuid, 'web', str(uuid.uuid4()), world.now)
    find(world, group)
    found = alternates(world, group)
    assert found['web'] == [] and found['db/node-0'] and found['db/node-1']


def test_another_engine_chooses_alternates_after_a_crash_at_any_call(world):
    deaths = 0
    for calls in itertools.count():
        group = planned(world)
        life = CallBudget(calls)
        table = KillableProxy(life, world.table)
        try:
            taken = AlternatesQueue(
                world.conf, table, world.planner_with(table, world.holds),
                f'dead-{calls}', world.clock)
            taken.do(taken.take(group.uuid))
        except ProcessKilled:
            deaths += 1
        world.wait(world.conf.engine.stale_after + 1)
        for waiting in queue(world).waiting(10):
            assert waiting == group.uuid
            find(world, group, f'other-{calls}')
        assert all(alternates(world, group).values())
        assert queue(world).waiting(10) == ()
        world.lifecycle.delete(group.uuid)
        if not life.over:
            break
    assert deaths >= 5


def test_an_engine_that_is_alive_keeps_the_work(world):
    group = planned(world)
    assert queue(world, 'one').take(group.uuid)
    assert queue(world, 'two').waiting(10) == ()
    assert queue(world, 'two').take(group.uuid) is None
    queue(world, 'one').return_work()
    assert queue(world, 'two').take(group.uuid).attempts == 1


def test_alternates_from_before_an_update_are_not_written(world):
    """The update keeps all places, and forbids alternates that were
    allowed."""
    group = planned(world, {'group': revised(policies=[])})
    places = {path: row.place for path, row in rows(world, group).items()}

    def update_it():
        update(world, group, APART)

    with pytest.raises(OwnershipLost):
        find(world, group, planner=while_snapshot(world, update_it))
    assert not any(alternates(world, group).values())
    assert queue(world).waiting(10) == (group.uuid,)
    find(world, group, 'two')
    assert {path: row.place
            for path, row in rows(world, group).items()} == places
    assert all(alternates(world, group).values())
    for chosen in choices(world, group):
        assert chosen['db/node-0'] != chosen['db/node-1']


def test_an_engine_finds_no_alternates_while_a_group_has_a_task(world):
    group = planned(world)
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': APART}, [GroupStatus.PLANNED]),
        world.now)
    assert queue(world).waiting(10) == ()
    assert queue(world).take(group.uuid) is None


def test_alternates_from_before_a_move_are_found_again(world):
    group = planned(world, {'group': APART})
    claimed = world.table.claim(
        group.uuid, 'db/node-0', str(uuid.uuid4()), world.now)
    seen = []

    def move_it():
        used = {row.place.host for row in rows(world, group).values()}
        there = next(host for host in world.inventory.snapshot().hosts
                     if host.name not in used)
        moved = replace(claimed, place=place_of(there),
                        hold=str(uuid.uuid4()))
        seen.append(moved.hold)
        assert member_moves.move(
            world.table.database, moved, claimed.hold,
            world.table.members(group.uuid),
            world.now) is member_moves.Move.WRITTEN

    find(world, group, planner=while_snapshot(world, move_it))
    assert seen and alternates(world, group)['db/node-1']
    for chosen in choices(world, group):
        assert chosen['db/node-0'] != chosen['db/node-1']
    # Undo the move, because the member has no server and no allocation on that
    # host.
    member_moves.move(world.table.database, claimed, seen[0],
                      world.table.members(group.uuid), world.now)
    world.table.change_state(
        claimed.id, [MemberState.CLAIMED], MemberState.PLANNED, world.now,
        instance_uuid=None, held=True)


def test_a_member_that_is_claimed_meanwhile_gets_none(world):
    group = planned(world)

    def claim_it():
        world.table.claim(group.uuid, 'web', str(uuid.uuid4()), world.now)

    find(world, group, planner=while_snapshot(world, claim_it))
    found = alternates(world, group)
    assert found['web'] == [] and found['db/node-0'] and found['db/node-1']
    assert queue(world).waiting(10) == ()


def test_a_replanned_member_gets_alternates_beside_those_of_others(world):
    group = planned(world, {'group': APART})
    find(world, group)
    before = alternates(world, group)
    row = rows(world, group)['db/node-0']
    world.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.LOST, world.now,
        held=False)
    world.holds.drop([row.hold])
    assert not world.planner.replan(group.uuid).reasons
    assert alternates(world, group) == {**before, 'db/node-0': []}
    find(world, group, 'two')
    after = alternates(world, group)
    assert after['db/node-1'] == before['db/node-1']
    assert not {*after['db/node-0']} & {
        *after['db/node-1'], rows(world, group)['db/node-1'].place.host}


def test_alternates_are_given_up_after_several_crashes(world):
    group = planned(world)
    for number in range(world.conf.engine.attempts):
        assert queue(world, f'dead-{number}').take(group.uuid)
        world.now += timedelta(seconds=world.conf.engine.stale_after + 1)
    find(world, group, 'last')
    assert queue(world).waiting(10) == ()
    assert not any(alternates(world, group).values())


def test_alternates_are_given_up_after_several_errors(world):
    """A group whose alternates cannot be found remains planned, and engines
    do not search for them again."""
    group, planner = planned(world), world.planner_with(
        world.table, world.holds)

    def fail(*_arguments):
        begun.append(1)
        raise ZeroDivisionError

    begun, planner.find_alternates = [], fail
    # Each attempt is due.
    workers = Workers({'alternates': queue(world, planner=planner)}, 1,
                      itertools.count(step=2 * LONGEST_INTERVAL).__next__)
    for _ in range(world.conf.engine.attempts + 3):
        workers.pick_up()
        assert wait_for_idle(workers)
        workers.send_heartbeats()
    workers.stop()
    assert len(begun) == world.conf.engine.attempts
    assert queue(world).waiting(10) == ()
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED
    (event,) = world.table.history.read(
        Page(group.uuid, 100, kind='alternates.failed'))
    assert (event.member, event.at) == (None, world.now)
    (reason,) = event.reasons
    assert 'unexpected error occurred' in reason['public']


def test_a_time_limit_that_is_reached_leaves_a_planned_group(world):
    group = planned(world)
    ticks = itertools.count(0, 100)
    planner = world.planner_with(world.table, world.holds)
    planner._snapshot_planner._timer = lambda: next(ticks)
    find(world, group, planner=planner)
    assert not any(alternates(world, group).values())
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED
    assert queue(world).waiting(10) == ()
