# SPDX-License-Identifier: Apache-2.0
"""A lost member gets another place, and all other members keep theirs."""

from dataclasses import replace
import itertools

from nova_holistic.table.records import GroupStatus
from tests.functional.engine.member_losses import lose, place
from tests.functional.engine.world import RACKS, shop, SMALL

TRIO = {'group': {
    'name': 'trio',
    'policies': [{'type': 'anti-affinity', 'level': 'rack',
                  'max_per_domain': 2}],
    'members': [{'name': 'node', 'count': 3, 'resources': SMALL}]}}


def test_a_replan_moves_only_the_lost_member(world):
    group = world.create()
    built = world.build(group, 'db/node-0').place.host
    web = place(world, group, 'web')
    lost = lose(world, group, 'db/node-1')
    world.placement.allocate(lost.place.provider, {'VCPU': 2 - sum(
        host == lost.place.host for host in (built, web))})
    record = world.planner.replan(group.uuid)
    assert (record.status, record.reasons) == (GroupStatus.BUILDING, ())
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'built', 'db/node-1': 'planned'}
    assert place(world, group, 'web') == web
    assert place(world, group, 'db/node-0') == built
    new_host = place(world, group, 'db/node-1')
    assert new_host != lost.place.host and RACKS[new_host] != RACKS[built]


def test_a_replanned_member_is_held_and_can_be_built(world):
    group = world.create()
    lost = lose(world, group, 'web')
    world.planner.replan(group.uuid)
    world.assert_agreement()
    row = world.build(group, 'web')
    assert row.id == lost.id and row.hold != lost.hold
    world.assert_agreement()


def test_a_group_that_lost_every_member_is_replanned(world):
    group = world.create()
    for path in ('web', 'db/node-0', 'db/node-1'):
        lose(world, group, path)
    world.table.settle(group.uuid, world.now)
    world.planner.replan(group.uuid)
    assert set(world.states(group).values()) == {'planned'}
    assert {RACKS[place(world, group, f'db/node-{n}')] for n in (0, 1)} == {
        'a', 'b'}
    world.assert_agreement()


def test_a_replan_changes_nothing_without_lost_members(world):
    group = world.create()
    before = world.table.members(group.uuid)
    world.planner.replan(group.uuid)
    assert world.table.members(group.uuid) == before


def test_members_that_were_released_are_not_planned_again(world):
    group = world.create(TRIO)
    world.lifecycle.release(group.uuid, ['node-1'])
    lose(world, group, 'node-2')
    record = world.planner.replan(group.uuid)
    assert record.reasons == ()
    assert world.states(group) == {
        'node-0': 'planned', 'node-1': 'released', 'node-2': 'planned'}
    world.assert_agreement()


def test_a_replan_counts_a_server_that_failed_on_its_host(world):
    """The server may run after a rebuild, and its place is held again after
    it is deleted."""
    group = world.create()
    failed = world.claim(group, 'db/node-0')
    world.swap(failed)
    world.instances.set(failed.instance_uuid, 'ERROR', failed.place.host,
                        launched=False)
    world.reconciler.reconcile()
    assert world.states(group)['db/node-0'] == 'failed'
    lost = lose(world, group, 'db/node-1')
    others = [host for host, rack in RACKS.items()
              if rack == RACKS[lost.place.host]]
    world.inventory.down = set(others)
    assert world.planner.replan(group.uuid).reasons
    assert world.states(group)['db/node-1'] == 'lost'
    world.inventory.down = set()
    assert world.planner.replan(group.uuid).reasons == ()
    assert place(world, group, 'db/node-1') in others


def test_a_failed_server_counts_at_the_host_to_which_nova_sent_it(world):
    """Nova may have built it on an alternate."""
    group = world.create()
    failed = world.claim(group, 'db/node-0')
    web = place(world, group, 'web')
    lose(world, group, 'db/node-1')
    host = next(each for each, rack in RACKS.items()
                if rack != RACKS[failed.place.host] and each != web)
    world.servers.add(failed.instance_uuid)
    world.holds.swap(failed, failed.instance_uuid, 'blue', 'ann', replace(
        failed.place, host=host, provider=world.hosts[host]))
    world.instances.set(failed.instance_uuid, 'ERROR', host, launched=False)
    world.reconciler.reconcile()
    assert world.states(group)['db/node-0'] == 'failed'
    assert place(world, group, 'db/node-0') == host
    assert world.planner.replan(group.uuid).reasons == ()
    assert RACKS[place(world, group, 'db/node-1')] != RACKS[host]


def test_an_unplaceable_member_stays_lost_with_a_reason(world):
    group = world.create()
    lost = lose(world, group, 'db/node-1')
    for host, rack in RACKS.items():
        if rack == RACKS[lost.place.host]:
            used = world.placement.used(world.hosts[host])['VCPU']
            if used < 2:
                world.placement.allocate(
                    world.hosts[host], {'VCPU': 2 - used})
    record = world.planner.replan(group.uuid)
    assert record.status == GroupStatus.PLANNED
    assert record.reasons and all(r['message'] for r in record.reasons)
    assert world.states(group)['db/node-1'] == 'lost'
    world.assert_lost_holds_nothing(group)


def test_reasons_are_cleared_once_the_member_is_placed(world):
    group = world.create()
    lose(world, group, 'web')
    world.inventory.down = set(RACKS)
    assert world.planner.replan(group.uuid).reasons
    world.inventory.down = set()
    assert world.planner.replan(group.uuid).reasons == ()
    world.assert_agreement()


def test_a_plan_reports_the_time_of_its_snapshot(world):
    ticks = itertools.count()
    planner = type(world.planner)(
        world.conf, world.inventory, world.table, world.holds, world.clock,
        timer=lambda: float(next(ticks)))
    seconds = planner.plan(shop()).seconds
    assert seconds['snapshot'] == 1.0
    assert seconds['total'] >= seconds['snapshot'] + seconds['solve']
