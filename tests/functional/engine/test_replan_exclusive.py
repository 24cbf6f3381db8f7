# SPDX-License-Identifier: Apache-2.0
"""Exclusive groups are planned and replanned in a cloud with servers of other
groups."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.member_losses import lose, place
from tests.functional.engine.world import RACKS, shop, SMALL

ALONE = {'group': {
    'name': 'alone', 'policies': [{'type': 'exclusive'}],
    'members': [{'name': 'node', 'count': 2, 'resources': SMALL}]}}


def test_a_lost_member_may_join_its_own_group_on_an_exclusive_host(world):
    group = world.create(ALONE)
    lose(world, group, 'node-1')
    stays = place(world, group, 'node-0')
    world.inventory.down = set(RACKS) - {stays}
    assert world.planner.replan(group.uuid).reasons == ()
    assert place(world, group, 'node-1') == stays
    world.assert_agreement()


def test_a_lost_exclusive_member_avoids_a_foreign_server(world):
    group = world.create(ALONE)
    lose(world, group, 'node-1')
    stays = place(world, group, 'node-0')
    for host, provider in world.hosts.items():
        room = 2 - world.placement.used(provider)['VCPU']
        world.placement.allocate(provider, {'VCPU': 1 if host == stays
                                            else room})
    record = world.planner.replan(group.uuid)
    assert record.reasons
    assert world.states(group)['node-1'] == 'lost'


def test_an_exclusive_plan_is_replaced_if_a_foreign_server_arrives(world):
    """Placement has enough capacity for both, and accepts both."""
    def other_server(number):
        if number == 1:
            for host in ('a1', 'a2', 'b1'):
                world.placement.allocate(world.hosts[host], {'VCPU': 1})

    world.inventory.stale = other_server
    single = {'group': {**ALONE['group'], 'members': [
        {'name': 'node', 'resources': SMALL}]}}
    group = world.create(single)
    if world.inventory.taken == 2:
        pytest.fail('the other server took a host that the plan does not use')
    assert group.status == GroupStatus.PLANNED
    assert place(world, group, 'node') == 'b2'
    assert world.table.get_group(group.uuid).exclusive
    assert world.vcpus_used() == 3 + 1


def test_groups_planned_at_once_do_not_share_an_exclusive_host(world):
    with ThreadPoolExecutor(3) as pool:
        groups = list(pool.map(world.create, [ALONE, shop(1), ALONE]))
    hosts = [{m.place.host for m in world.table.members(group.uuid)
              if m.state == MemberState.PLANNED} for group in groups]
    assert not hosts[0] & hosts[1]
    assert not hosts[0] & hosts[2]
    assert not hosts[1] & hosts[2]
