# SPDX-License-Identifier: Apache-2.0
"""A lost member with a hold is being replanned. A pass of the reconciler keeps
the hold during the grace period. After it, the planner counts as failed."""

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.engine.interleaving import Interleaved, reconcile
from tests.functional.engine.process_death import ProcessKilled
from tests.functional.engine.world import SMALL

SINGLE = {'group': {
    'name': 'single', 'members': [{'name': 'web', 'resources': SMALL}]}}


@pytest.fixture
def group(world):
    """A group whose only member has lost its place."""
    group = world.create(SINGLE, lease=0)
    (row,) = world.table.members(group.uuid)
    world.holds.drop([row.hold])
    assert world.table.change_state(
        row.id, [MemberState.PLANNED], MemberState.LOST, world.now,
        held=False)
    return group


def replan(world, group, after_put):
    """Replan the lost member, and call a function as soon as Placement has the
    new hold."""
    world.planner_with(world.table, Interleaved(
        world.holds, 'put', after=after_put)).replan(group.uuid)


def test_a_pass_during_a_replan_leaves_the_new_hold_there(world, group):
    passes = []
    replan(world, group, lambda: passes.append(reconcile(world)))
    assert passes == [{}]
    assert world.states(group) == {'web': 'planned'}
    world.assert_agreement()


def test_a_hold_of_a_failed_planner_is_dropped_after_the_grace_period(
        world, group):
    def die():
        raise ProcessKilled

    with pytest.raises(ProcessKilled):
        replan(world, group, die)
    grace = world.conf.reconciler.grace
    world.wait(grace - 1)
    assert reconcile(world) == {}
    assert world.vcpus_used() == 1
    world.wait(1)
    assert reconcile(world) == {'leftover': 1}
    assert world.vcpus_used() == 0
    assert world.states(group) == {'web': 'lost'}
    world.assert_agreement()
