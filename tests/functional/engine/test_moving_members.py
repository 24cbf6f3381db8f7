# SPDX-License-Identifier: Apache-2.0
"""A plan uses neither host of a server that Nova is moving."""

import pytest

from nova_holistic.engine.member_rows import place_of
from nova_holistic.reconcile.instances import MoveView
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import MemberState
from tests.functional.engine.world import SMALL

pytestmark = pytest.mark.leaves('servers that move in the table alone')


def trio(level):
    return {'name': 'trio', 'policies': [
        {'type': 'anti-affinity', 'level': level}], 'members': [
        {'name': 'n', 'count': 3, 'resources': SMALL}]}


@pytest.fixture
def group(world):
    """A group with three members. The first server moves from a1 to a2, the
    second one is on b1, and the third member is lost."""
    group = world.create(trio('host'))
    for path in 'n-0', 'n-1':
        world.build(group, path)
    put(world, group, 'n-1', 'b1')
    put(world, group, 'n-0', 'a1', 'a2')
    row = member(world, group, 'n-2')
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.clock(), held=False)
    world.holds.drop([row.hold])
    return group


def test_a_lost_member_gets_the_only_host_that_neither_needs(world, group):
    assert not world.planner.replan(group.uuid).reasons
    assert member(world, group, 'n-2').place.host == 'b2'


def test_a_lost_member_stays_lost_while_nothing_else_is_left(world, group):
    world.inventory.down = {'b2'}
    shown = [reason['message'] for reason
             in world.planner.replan(group.uuid).reasons]
    assert any('Nova is moving servers' in message for message in shown)
    assert member(world, group, 'n-2').state == 'lost'
    put(world, group, 'n-0', 'a2')
    assert not world.planner.replan(group.uuid).reasons
    assert member(world, group, 'n-2').place.host == 'a1'


def test_an_update_adds_no_member_on_either_host(world, group):
    world.planner.replan(group.uuid)
    wider = trio('host')
    wider['members'][0]['count'] = 4
    assert world.table.tasks.request(
        group.uuid, NewTask(
            'updating', {'document': wider}, ['building']), world.clock())
    record = world.table.tasks.take(
        group.uuid, 'engine-1', world.clock(), world.clock())
    world.planner.perform(record)
    assert world.table.get_group(group.uuid).reasons
    assert len(world.table.members(group.uuid)) == 3


def test_an_exclusive_group_keeps_both_hosts_of_a_moving_server(world):
    alone = world.create({
        'name': 'alone', 'policies': [{'type': 'exclusive'}],
        'members': [{'name': 's', 'resources': SMALL}]})
    world.build(alone, 's')
    put(world, alone, 's', 'a1', 'a2')
    # The moving server reserves both of its hosts, so only two hosts remain.
    others = world.create(trio('host'))
    assert others.status == 'unplaceable'
    put(world, alone, 's', 'a2')
    assert world.create(trio('host')).status == 'planned'


def put(world, group, path, host, destination=None):
    """Put the server of a built member on a host, or let it move from there to
    the destination."""
    places = {each.name: place_of(each)
              for each in world.inventory.snapshot().hosts}
    row = member(world, group, path)
    assert world.table.change_state(
        row.id, [MemberState.BUILT], MemberState.BUILT, world.clock(),
        place=places[host], destination=destination and places[destination])
    world.instances.moves.clear()
    world.instances.set(row.instance_uuid, 'ACTIVE', host)
    if destination is not None:
        world.instances.set(row.instance_uuid, 'VERIFY_RESIZE', destination)
        world.instances.moves[row.instance_uuid] = MoveView(host, destination)


def member(world, group, path):
    return next(row for row in world.table.members(group.uuid)
                if row.member.path == path)
