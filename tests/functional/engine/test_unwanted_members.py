# SPDX-License-Identifier: Apache-2.0
"""A member that was released while a server had it is not planned again when
that server is deleted."""

import uuid

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.engine.interleaving import Interleaved, reconcile
from tests.functional.engine.test_update_queue import put
from tests.functional.engine.updates import take
from tests.functional.engine.world import shop


@pytest.fixture
def group(world):
    return world.create(shop(1), lease=0)


def delete_server(world, row):
    """Nova deletes the server and its allocation."""
    world.holds.drop([row.instance_uuid])
    world.servers.discard(row.instance_uuid)
    world.instances.delete(row.instance_uuid)


def test_a_built_member_that_was_released_goes_with_its_server(world, group):
    row = world.build(group, 'web')
    done = world.lifecycle.release(group.uuid, ['web'])
    assert (done.released, done.kept) == ((), ('web',))
    assert world.states(group)['web'] == 'built'
    delete_server(world, row)
    reconcile(world)
    assert world.states(group) == {'web': 'released', 'db/node-0': 'planned'}
    assert world.vcpus_used() == 1
    world.reconcile_members()
    world.assert_agreement()


def test_other_members_are_still_planned_again(world, group):
    rows = [world.build(group, path) for path in ('web', 'db/node-0')]
    world.lifecycle.release(group.uuid, ['web'])
    for row in rows:
        delete_server(world, row)
    reconcile(world)
    assert world.states(group) == {'web': 'released', 'db/node-0': 'planned'}


def test_a_claimed_member_that_was_released_is_not_planned_again(
        world, group):
    """Its server is never built."""
    row = world.claim(group, 'web')
    world.swap(row)
    world.lifecycle.release(group.uuid, ['web'])
    world.instances.set(row.instance_uuid, 'ERROR')
    reconcile(world)
    assert world.states(group)['web'] == 'released'
    world.reconcile_members()
    world.assert_agreement()


def test_a_claim_that_the_scheduler_undoes_after_a_release_is_released(
        world, group):
    row = world.claim(group, 'web')
    world.lifecycle.release(group.uuid, ['web'])
    assert world.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.PLANNED, world.now,
        of_instance=row.instance_uuid, instance_uuid=None, held=True)
    assert world.states(group)['web'] == 'released'
    world.reconcile_members()
    world.assert_agreement()


@pytest.mark.parametrize('members', [['web'], ['web', 'db/node']])
def test_a_release_during_a_change_of_the_hold_counts(world, group, members):
    """The row of a server gets a new hold, for example when the scheduler
    moves the claim to another host."""
    row = world.claim(group, 'web')
    world.swap(row)
    table = Interleaved(world.table, 'release', before=lambda: (
        world.table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.CLAIMED, world.now,
            of_instance=row.instance_uuid, hold=str(uuid.uuid4()))))
    done = world.lifecycle_with(table, world.holds).release(
        group.uuid, members)
    assert done.kept == ('web',)
    world.instances.set(row.instance_uuid, 'ERROR')
    reconcile(world)
    assert world.states(group)['web'] == 'released'
    world.reconcile_members()
    world.assert_agreement()


def test_a_release_during_the_return_of_a_member_counts(world, group):
    row = world.build(group, 'web')
    delete_server(world, row)
    reconcile(world, holds=Interleaved(
        world.holds, 'put',
        after=lambda: world.lifecycle.release(group.uuid, ['web'])))
    assert world.states(group)['web'] == 'released'
    world.reconcile_members()
    world.assert_agreement()


def test_an_update_plans_a_member_again_that_was_released_before(
        world, group):
    row = world.build(group, 'web')
    world.lifecycle.release(group.uuid, ['web'])
    put(world, group, shop(2)['group'])
    world.planner.perform(take(world, group))
    delete_server(world, row)
    reconcile(world)
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


def test_a_member_released_after_an_update_was_requested_stays_released(
        world, group):
    row = world.build(group, 'web')
    put(world, group, shop(2)['group'])
    world.lifecycle.release(group.uuid, ['web'])
    world.planner.perform(take(world, group))
    delete_server(world, row)
    reconcile(world)
    assert world.states(group)['web'] == 'released'
