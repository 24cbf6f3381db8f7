# SPDX-License-Identifier: Apache-2.0
"""The decisions that an engine may make on an outdated snapshot.

The engine receives no notification of any change.
"""

import pytest

from nova_holistic.engine.planner import Planner
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.use_tracking_adapter import UseTrackingAdapter
from nova_holistic.table.records import MemberState
from tests.functional.engine.world import SMALL, World
from tests.world.cached_inventory import CachedRackInventory

WHOLE = {'VCPU': 2, 'MEMORY_MB': 1024}
ONE = {'group': {'name': 'one', 'members': [
    {'name': 'web', 'resources': WHOLE}]}}
TINY = {'group': {'name': 'tiny', 'members': [
    {'name': 'web', 'resources': SMALL}]}}
ALONE = {'group': {
    'name': 'alone', 'policies': [{'type': 'exclusive'}],
    'members': [{'name': 'web', 'resources': SMALL}]}}


RACKS = {'a1': 'a', 'a2': 'a', 'b1': 'b'}


class KeptWorld(World):
    """Three hosts, each with capacity for one member of ``ONE``. An engine
    marks the hosts of its holds, as in a deployment."""

    inventory_type = CachedRackInventory

    def _start_parts(self):
        self.holds = HoldClient(UseTrackingAdapter(
            self.placement.adapter, self.inventory))
        super()._start_parts()

    def fill(self, *hosts):
        """Fill these hosts with other servers."""
        return [self.placement.allocate(self.hosts[host], WHOLE)
                for host in hosts]


@pytest.fixture
def world(tmp_path):
    with KeptWorld(tmp_path, RACKS) as world:
        yield world


def host(world, group):
    row, = world.table.members(group.uuid)
    return row.place.host


def test_a_plan_on_a_warm_engine_takes_no_complete_snapshot(world):
    for _ in range(3):
        assert world.create(ONE).status == 'planned'
    assert world.inventory.complete == 1


def test_room_that_another_server_freed_is_found_before_unplaceable(world):
    other_servers = world.fill('a1', 'a2', 'b1')
    assert world.create(ONE).status == 'unplaceable'
    world.placement.free(other_servers[1])
    group = world.create(ONE)
    assert (group.status, host(world, group)) == ('planned', 'a2')


def test_room_that_another_server_freed_is_found_by_a_dry_run(world):
    other_servers = world.fill('a1', 'a2', 'b1')
    assert world.planner.plan(ONE['group']).reasons
    world.placement.free(other_servers[1])
    assert world.planner.plan(ONE['group']).hosts() == {'web': 'a2'}


def test_hosts_that_placement_refused_are_read_again(world):
    wanted = world.planner.plan(ONE['group']).hosts()['web']
    world.fill(wanted)
    group = world.create(ONE)
    assert group.status == 'planned'
    assert host(world, group) != wanted
    assert world.inventory.complete == 1


def test_after_two_refusals_everything_is_read(world):
    world.conf.set_override('attempts', 3, group='planner')
    world.inventory.cached_snapshot()
    # Each refusal informs the engine of one of the two hosts.
    world.fill('a1', 'a2')
    assert world.create(ONE).status == 'planned'
    assert world.inventory.complete == 2


def test_a_second_engine_learns_of_the_holds_of_the_first(world):
    inventory = CachedRackInventory(world.placement, world.hosts, RACKS)
    inventory.cached_snapshot()
    other = Planner(
        world.conf, inventory, world.table,
        HoldClient(UseTrackingAdapter(
            world.placement.adapter, inventory)), world.clock)
    for _ in range(2):
        assert world.create(ONE).status == 'planned'
    record = other.create(ONE, project_id='blue', user_id='ann')
    assert record.status == 'planned'
    assert len({row.place.host for row in world.table.find_members(
        [MemberState.PLANNED])}) == 3


def test_an_exclusive_member_avoids_a_server_that_nothing_reported(world):
    world.inventory.cached_snapshot()
    for name in ('a1', 'b1'):
        world.placement.allocate(world.hosts[name], {'VCPU': 1})
    group = world.create(ALONE)
    assert (group.status, host(world, group)) == ('planned', 'a2')


def test_an_exclusive_rack_has_no_server_that_nothing_reported(world):
    """The server is on a host of rack a that the group does not use."""
    world.fill('b1')
    world.inventory.snapshot()
    document = {'group': {**ALONE['group'], 'policies': [
        {'type': 'exclusive', 'level': 'rack'}]}}
    wanted = world.planner.plan(document['group']).hosts()['web']
    other, = {'a1', 'a2'} - {wanted}
    world.placement.allocate(world.hosts[other], {'VCPU': 1})
    assert world.create(document).status == 'unplaceable'


def test_a_host_that_is_up_again_keeps_its_holds(world):
    group = world.create(TINY, lease=0)
    where = host(world, group)
    world.inventory.down = {where}
    world.inventory.snapshot()
    world.wait_out_host_grace()
    # The engine misses that the host is up again.
    world.inventory.down = set()
    assert world.reconciler.reconcile() == {}
    assert world.states(group) == {'web': 'planned'}


def test_a_host_that_stays_down_is_given_up(world):
    group = world.create(TINY, lease=0)
    where = host(world, group)
    world.inventory.down = {where}
    world.inventory.snapshot()
    world.wait_out_host_grace()
    assert world.reconciler.reconcile()['stranded'] == 1
    assert host(world, group) != where


def test_lost_members_find_room_that_another_server_freed(world):
    group = world.create(ONE, lease=0)
    where = host(world, group)
    others = sorted({'a1', 'a2', 'b1'} - {where})
    other_servers = world.fill(*others)
    world.inventory.down = {where}
    world.inventory.snapshot()
    world.wait_out_host_grace()
    world.reconciler.reconcile()
    assert world.states(group) == {'web': 'lost'}
    world.placement.free(other_servers[0])
    assert world.planner.replan(group.uuid).reasons == ()
    assert host(world, group) == others[0]


def test_a_group_is_not_degraded_because_of_an_old_snapshot(world):
    """The inventory first reports all hosts in one rack, and then in their own
    racks."""
    document = {'group': {
        'name': 'pair',
        'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
        'members': [{'name': 'node', 'count': 2, 'resources': SMALL}]}}
    group = world.create(document, lease=0)
    for path in ('node-0', 'node-1'):
        world.build(group, path)
    world.inventory.racks = dict.fromkeys(RACKS, 'a')
    world.inventory.snapshot()
    world.inventory.racks = RACKS
    assert 'degraded' not in world.reconciler.reconcile()
    assert world.inventory.complete == 3
