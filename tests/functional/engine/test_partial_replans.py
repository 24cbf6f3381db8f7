# SPDX-License-Identifier: Apache-2.0
"""A lost member that cannot be placed does not prevent the plan of others."""

import pytest

from nova_holistic.solver.observer import observing
from nova_holistic.table.records import MemberState
from tests.functional.engine.world import RACKS, SMALL, World

WHOLE = {'VCPU': 2, 'MEMORY_MB': 1024}


def members(*names_and_resources, policies=(), **more):
    return {'group': {
        'name': 'parts', 'policies': list(policies),
        'members': [{'name': name, 'resources': resources}
                    for name, resources in names_and_resources], **more}}


def lose_all(world, group):
    """Remove all holds."""
    for row in world.table.members(group.uuid):
        world.holds.drop([row.hold])
        assert world.table.change_state(
            row.id, [MemberState.PLANNED], MemberState.LOST, world.now,
            held=False)


def leave(world, **rooms):
    """Leave this number of VCPUs on these hosts and none on the others."""
    for host, provider in world.hosts.items():
        taken = world.placement.room[provider]['VCPU'] - rooms.get(host, 0)
        if taken:
            world.placement.allocate(provider, {'VCPU': taken})


def lost(world, group):
    return [path for path, state in world.states(group).items()
            if state == 'lost']


def named_in(record):
    """Paths of the members that the reasons report as unplaced."""
    return [path for reason in record.reasons
            if 'cannot be placed' in reason['message']
            for path in reason['at'].split(', ')]


def test_an_unplaceable_member_does_not_keep_others_lost(world):
    group = world.create(members(('large', WHOLE), ('small', SMALL)))
    lose_all(world, group)
    leave(world, a1=1, b1=1)
    record = world.planner.replan(group.uuid)
    assert world.states(group) == {'large': 'lost', 'small': 'planned'}
    assert named_in(record) == ['large']
    assert len(record.reasons) > 1


def test_members_that_come_first_in_the_document_get_the_places(world):
    group = world.create({'group': {'name': 'row', 'members': [
        {'name': 'node', 'count': 5, 'resources': SMALL}]}})
    lose_all(world, group)
    leave(world, a1=1, a2=1, b2=1)
    record = world.planner.replan(group.uuid)
    assert lost(world, group) == ['node-3', 'node-4']
    assert named_in(record) == ['node-3', 'node-4']


def test_the_members_that_are_placed_keep_the_policies(world):
    group = world.create(members(
        ('a', SMALL), ('b', SMALL), ('c', SMALL), policies=[
            {'type': 'anti-affinity', 'level': 'rack', 'max_per_domain': 2}]))
    lose_all(world, group)
    leave(world, a1=2, a2=2)
    record = world.planner.replan(group.uuid)
    assert lost(world, group) == ['c'] == named_in(record)
    assert 'anti-affinity' in str(record.reasons)


def test_members_are_planned_jointly_if_all_of_them_can_be_placed(world):
    """One call of the solver plans all of them."""
    group = world.create(members(('small', SMALL), ('large', WHOLE)))
    lose_all(world, group)
    leave(world, a1=2, b1=1)
    calls = []
    with observing(lambda question, answer: calls.append(question)):
        assert world.planner.replan(group.uuid).reasons == ()
    assert len(calls) == 1
    assert lost(world, group) == []


def test_remaining_lost_members_are_placed_when_capacity_is_free(world):
    group = world.create(members(('large', WHOLE), ('small', SMALL)), lease=0)
    lose_all(world, group)
    leave(world, a1=1)
    world.planner.replan(group.uuid)
    for other_server in list(world.placement.other_servers):
        world.holds.drop([other_server])
    assert world.reconciler.reconcile() == {'replanned': 1}
    assert lost(world, group) == []
    assert world.table.get_group(group.uuid).reasons == ()
    world.assert_nothing_left()


def test_members_that_are_built_do_not_move(world):
    group = world.create(members(
        ('built', SMALL), ('large', WHOLE), ('small', SMALL)))
    built = world.build(group, 'built')
    for row in world.table.members(group.uuid)[1:]:
        world.holds.drop([row.hold])
        world.table.change_state(
            row.id, [MemberState.PLANNED], MemberState.LOST, world.now,
            held=False)
    for host, provider in world.hosts.items():
        used = world.placement.used(provider)['VCPU']
        if host != built.place.host:
            world.placement.allocate(provider, {'VCPU': 2 - used})
    world.planner.replan(group.uuid)
    assert world.states(group) == {
        'built': 'built', 'large': 'lost', 'small': 'planned'}
    assert {row.place.host for row in world.table.members(group.uuid)
            if row.state != MemberState.LOST} == {built.place.host}


@pytest.fixture
def large_world(tmp_path):
    """A world with the same hosts, each with capacity for seventy small
    servers."""
    with World(tmp_path, RACKS, 70) as world:
        yield world
        world.assert_nothing_left()


@pytest.mark.parametrize('room, most', [(0, 10), (90, 20), (199, 20)])
def test_hundreds_of_lost_members_take_few_calls_of_the_solver(
        large_world, room, most):
    world = large_world
    world.conf.set_override('alternates', 0, group='planner')
    group = world.create({'group': {'name': 'many', 'members': [
        {'name': 'node', 'count': 200, 'resources': SMALL}]}})
    lose_all(world, group)
    leave(world, **{host: room // 4 + (number < room % 4)
                    for number, host in enumerate(RACKS)})
    calls = []
    with observing(lambda question, answer: calls.append(question)):
        record = world.planner.replan(group.uuid)
    assert lost(world, group) == [f'node-{n}' for n in range(room, 200)]
    assert named_in(record) == lost(world, group)
    assert len(calls) <= most
