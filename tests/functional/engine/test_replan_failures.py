# SPDX-License-Identifier: Apache-2.0
"""A replan that fails or is outdated leaves no hold."""

import itertools

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import CapacityUnavailable, HoldsError
from nova_holistic.messaging import errors
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.records import GroupStatus
from tests.functional.engine.member_losses import lose, place
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.unit.table import builders


def test_the_replanner_retries_when_capacity_was_taken(world):
    group = world.create()
    lost = lose(world, group, 'web')
    before = world.inventory.taken

    def other_server(number):
        if number == before + 1:
            for host, provider in world.hosts.items():
                used = world.placement.used(provider)['VCPU']
                if used < 2 and host != 'b2':
                    world.placement.allocate(provider, {'VCPU': 2 - used})

    world.inventory.stale = other_server
    record = world.planner.replan(group.uuid)
    assert record.reasons == () and lost.hold not in {
        m.hold for m in world.table.members(group.uuid)}
    assert place(world, group, 'web') == 'b2'


class Refusing:
    """A hold client whose request is refused or gets no response."""

    def __init__(self, holds, error):
        self._holds = holds
        self._error = error

    def put(self, *args):
        raise self._error

    def __getattr__(self, name):
        return getattr(self._holds, name)


def test_capacity_gone_on_every_attempt_becomes_a_reason(world):
    group = world.create()
    lose(world, group, 'web')
    refusing = Refusing(world.holds, CapacityUnavailable('no room'))
    record = world.planner_with(world.table, refusing).replan(group.uuid)
    assert 'no room' in record.reasons[0]['message']
    assert world.states(group)['web'] == 'lost'
    world.assert_lost_holds_nothing(group)


def test_a_placement_failure_is_raised_and_repaired_later(world):
    group = world.create(lease=0)
    lose(world, group, 'web')
    silent = Refusing(world.holds, HoldsError('timed out'))
    with pytest.raises(HoldsError):
        world.planner_with(world.table, silent).replan(group.uuid)
    assert world.states(group)['web'] == 'lost'
    world.reconcile_members()
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


@pytest.mark.parametrize('lease', [0, 3600])
def test_a_replan_interrupted_at_any_call_leaves_no_orphan(world, lease):
    for calls in itertools.count():
        group = world.create(lease=lease)
        lose(world, group, 'db/node-0')
        life = CallBudget(calls)
        planner = world.planner_with(
            KillableProxy(life, world.table),
            HoldClient(KillableProxy(life, world.placement.adapter)))
        try:
            planner.replan(group.uuid)
        except ProcessKilled:
            pass
        world.reconcile_members()
        assert set(world.states(group).values()) == {'planned'}
        world.assert_agreement()
        world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == 0
        if not life.over:
            assert calls > 5
            return


@pytest.mark.parametrize('end', ['release', 'delete'])
def test_a_release_or_deletion_during_a_replan_is_kept(world, end):
    group = world.create()
    lose(world, group, 'web')

    class Meanwhile:
        """The client releases the group just before the holds are written."""

        def put(self, *args):
            getattr(world.lifecycle, end)(group.uuid)
            world.holds.put(*args)

        def __getattr__(self, name):
            return getattr(world.holds, name)

    world.planner_with(world.table, Meanwhile()).replan(group.uuid)
    world.reconcile_members()
    assert set(world.states(group).values()) <= {'released'}
    assert world.vcpus_used() == 0


def test_a_release_during_an_interrupted_replan_leaves_nothing(world):
    group = world.create()
    lose(world, group, 'web')

    class Meanwhile:
        def put(self, *args):
            world.lifecycle.release(group.uuid)
            world.holds.put(*args)
            raise ProcessKilled

        def __getattr__(self, name):
            return getattr(world.holds, name)

    with pytest.raises(ProcessKilled):
        world.planner_with(world.table, Meanwhile()).replan(group.uuid)
    assert world.vcpus_used() == 1
    world.reconcile_members()
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_an_unknown_or_busy_group_cannot_be_replanned(world):
    with pytest.raises(GroupUnknown):
        world.planner.replan('00000000-0000-0000-0000-000000000000')
    group = world.create()
    builders.force_status(world.table, group.uuid, GroupStatus.PLANNING)
    with pytest.raises(errors.GroupBusy):
        world.planner.replan(group.uuid)
