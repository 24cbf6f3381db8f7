# SPDX-License-Identifier: Apache-2.0
"""A group is held completely or not at all, even if its holds are written by
several requests."""

import copy

import pytest

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import GroupStatus
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.test_performer import ask, take
from tests.functional.engine import updates
from tests.functional.engine.updates import LARGE


class Watched:
    """Placement's adapter. Before each change, it records the number of
    written holds and calls a function.

    :ivar shown: number of written holds of the only group before each ``POST``
    :ivar acts: functions by the number of the ``POST`` before which they are
        called; the first ``POST`` is 1
    """

    def __init__(self, world, **acts):
        self._world = world
        self.shown = []
        self.acts = {int(name.strip('_')): act for name, act in acts.items()}

    def request(self, url, method, **kwargs):
        if method == 'POST':
            group, = self._world.table.list_groups()
            self.shown.append(group.holds_written)
            self.acts.pop(len(self.shown), lambda: None)()
        return self._world.placement.adapter.request(url, method, **kwargs)


def one_by_one(world, adapter):
    """A planner that writes one hold per request."""
    return world.planner_with(world.table, HoldClient(adapter, part_size=1))


def create(world, wire):
    return one_by_one(world, wire).create(
        updates.shop(), project_id='blue', user_id='ann')


def fill(world, group, path):
    """Create another server on the planned host of a member; returns the
    host."""
    place = updates.rows(world, group)[path].place
    world.placement.allocate(place.provider, {'VCPU': 2})
    return place.host


def test_a_group_shows_how_many_holds_are_written(world):
    wire = Watched(world)
    group = create(world, wire)
    assert wire.shown == [0, 1, 2]
    assert (group.status, group.holds_written) == (GroupStatus.PLANNED, None)
    world.assert_agreement()


def test_a_group_of_one_part_counts_nothing_in_between(world):
    """One request writes all holds, so the group has no number of written
    holds."""
    group = world.create()
    assert group.holds_written is None


def test_another_server_between_two_parts_moves_one_member(world):
    taken = []

    def other_server():
        group, = world.table.list_groups()
        taken.append(fill(world, group, 'db/node-0'))

    wire = Watched(world, _2=other_server)
    group = create(world, wire)
    assert group.status == GroupStatus.PLANNED
    assert updates.hosts(world, group)['db/node-0'] not in taken
    # The first hold remains, and the refused one is written on another host.
    assert wire.shown == [0, 1, 1, 2]
    assert world.vcpus_used() == 2 + 3


def test_without_room_elsewhere_nothing_of_the_group_is_held(world):
    def other_servers():
        group, = world.table.list_groups()
        fill(world, group, 'db/node-0')
        updates.fill(world)

    group = create(world, Watched(world, _2=other_servers))
    assert group.status == GroupStatus.UNPLACEABLE
    assert group.holds_written is None
    assert {row.held for row in updates.rows(world, group).values()} == {
        False}


def test_another_engine_plans_again_after_an_engine_failed_halfway(world):
    group = ask(world)
    life = CallBudget(calls=99)
    wire = Watched(world, _3=life.end)
    with pytest.raises(ProcessKilled):
        world.planner_with(
            KillableProxy(life, world.table),
            HoldClient(KillableProxy(life, wire), part_size=1),
        ).perform(take(world, group, 'one'))
    left = world.table.get_group(group)
    assert (left.status, left.holds_written) == (GroupStatus.PLANNING, 2)
    assert world.vcpus_used() == 2
    world.wait(601)
    wire = Watched(world)
    one_by_one(world, wire).perform(take(world, group, 'two'))
    # The two holds of the killed engine are dropped. It had not written the
    # third one.
    assert wire.shown == [0, 1, 2]
    assert world.table.get_group(group).holds_written is None
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_an_engine_that_lost_its_group_puts_no_further_part(world):
    group = ask(world)
    record = take(world, group, 'slow')

    def others_plan_it():
        world.wait(601)
        world.planner.perform(take(world, group, 'quick'))

    wire = Watched(world, _2=others_plan_it)
    with pytest.raises(OwnershipLost):
        one_by_one(world, wire).perform(record)
    assert len(wire.shown) == 2
    assert world.table.get_group(group).status == GroupStatus.PLANNED
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_an_update_without_room_for_parts_exchanges_all_holds_at_once(world):
    pair = {'name': 'pair', 'members': [
        {'name': name, 'resources': LARGE, 'location': f'a/{host}'}
        for name, host in (('one', 'a1'), ('two', 'a2'))]}
    group = world.create({'group': pair})
    updates.fill(world, 'b1')
    moved = copy.deepcopy(pair)
    for member, place in zip(moved['members'], ('b/b1', 'a/a1')):
        member['location'] = place
    wire = Watched(world)
    after = updates.update(world, group, moved, one_by_one(world, wire))
    assert updates.hosts(world, group) == {'one': 'b1', 'two': 'a1'}
    # The first hold is written, and the second is refused. Then one request
    # gives both of them the capacity of the old holds.
    assert wire.shown == [0, 1, 0]
    assert (after.reasons, after.holds_written) == ((), None)
