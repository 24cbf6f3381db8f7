# SPDX-License-Identifier: Apache-2.0
"""The check at the end of each test reports the differences that the test has
left."""

import uuid

import pytest

from nova_holistic.table.records import MemberState


def row_of(world, group, path='web'):
    return next(row for row in world.table.members(group.uuid)
                if row.member.path == path)


def change(world, row, state, **changes):
    assert world.table.change_state(
        row.id, [row.state], state, world.now, **changes)


def test_a_group_as_it_was_planned_agrees(world):
    world.create()
    assert world.disagreements() == []


@pytest.mark.leaves('the hold of a planned member is dropped')
def test_a_held_row_without_its_hold(world):
    row = row_of(world, world.create())
    world.holds.drop([row.hold])
    (shown,) = world.disagreements()
    assert 'member web is planned and held; its hold has None' in shown


@pytest.mark.leaves('the row of a hold is deleted')
def test_a_hold_without_a_row(world):
    group = world.create()
    holds = {row.hold for row in world.table.members(group.uuid)}
    world.table.delete_group(group.uuid)
    shown = world.disagreements()
    assert len(shown) == 3
    assert all(any(hold in each for each in shown) for hold in holds)


@pytest.mark.leaves('a released row keeps its hold')
def test_a_hold_whose_row_is_not_held(world):
    row = row_of(world, world.create())
    change(world, row, MemberState.RELEASED, held=False)
    (shown,) = world.disagreements()
    assert 'member web is released and not held' in shown


@pytest.mark.leaves('the allocation of a server is dropped')
def test_a_built_row_without_the_allocation_of_its_server(world):
    row = world.build(world.create(), 'web')
    world.holds.drop([row.instance_uuid])
    (shown,) = world.disagreements()
    assert 'member web is built; its server has None' in shown


def test_a_claim_has_the_hold_or_the_servers_allocation(world):
    row = world.claim(world.create(), 'web')
    assert world.disagreements() == []
    world.swap(row)
    assert world.disagreements() == []
    world.holds.drop([row.instance_uuid])
    assert len(world.disagreements()) == 1
    world.holds.put([row], 'blue', 'ann')


@pytest.mark.leaves('a claim has its hold and the allocation of its server')
def test_a_claim_that_has_both(world):
    row = world.claim(world.create(), 'web')
    world.placement.allocate(
        row.place.provider, dict(row.member.requirements.resources),
        row.instance_uuid)
    assert len(world.disagreements()) == 1


def test_declared_servers_may_stay(world):
    """The test has allocated the capacity for another server itself."""
    world.placement.allocate(world.hosts['a1'], {'VCPU': 1})
    assert world.disagreements() == []


@pytest.mark.leaves('somebody that the test does not know has room')
def test_an_unknown_consumer(world):
    unknown = str(uuid.uuid4())
    assert world.placement.adapter.put(
        f'/allocations/{unknown}', microversion='1.38', json={
            'allocations': {world.hosts['a1']: {'resources': {'VCPU': 1}}},
            'project_id': 'blue', 'user_id': 'ann',
            'consumer_generation': None,
            'consumer_type': 'INSTANCE'}).status_code == 204
    (shown,) = world.disagreements()
    assert unknown in shown


def test_a_server_that_outlives_its_group_may_stay(world):
    group = world.create()
    world.build(group, 'web')
    world.lifecycle.delete(group.uuid)
    assert world.disagreements() == []
