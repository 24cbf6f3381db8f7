# SPDX-License-Identifier: Apache-2.0
"""A lost member gets another place, and everybody else keeps theirs."""

from concurrent.futures import ThreadPoolExecutor
import itertools

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import CapacityGone, HoldsError
from nova_holistic.messaging import errors
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.mortal import Death, Life, Mortal
from tests.functional.engine.world import RACKS, shop, SMALL

TRIO = {'group': {
    'name': 'trio',
    'policies': [{'type': 'anti-affinity', 'level': 'rack',
                  'max_per_domain': 2}],
    'members': [{'name': 'node', 'count': 3, 'resources': SMALL}]}}


def place(world, group, path):
    return next(m.place.host for m in world.table.members(group.uuid)
                if m.member.path == path)


def lose(world, group, path):
    """A member's hold and its room are somebody else's now."""
    row = next(m for m in world.table.members(group.uuid)
               if m.member.path == path)
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)
    return row


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
    anew = place(world, group, 'db/node-1')
    assert anew != lost.place.host and RACKS[anew] != RACKS[built]


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
    """Placement has room enough for both, and does not object."""
    def stranger(number):
        if number == 1:
            for host in ('a1', 'a2', 'b1'):
                world.placement.allocate(world.hosts[host], {'VCPU': 1})

    world.inventory.stale = stranger
    single = {'group': {**ALONE['group'], 'members': [
        {'name': 'node', 'resources': SMALL}]}}
    group = world.create(single)
    if world.inventory.taken == 2:
        pytest.fail('the first plan was not where the stranger came')
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


def test_reasons_are_cleared_once_the_member_is_placed(world):
    group = world.create()
    lose(world, group, 'web')
    world.inventory.down = set(RACKS)
    assert world.planner.replan(group.uuid).reasons
    world.inventory.down = set()
    assert world.planner.replan(group.uuid).reasons == ()
    world.assert_agreement()


def test_the_replanner_retries_when_capacity_was_taken(world):
    group = world.create()
    lost = lose(world, group, 'web')
    before = world.inventory.taken

    def stranger(number):
        if number == before + 1:
            for host, provider in world.hosts.items():
                used = world.placement.used(provider)['VCPU']
                if used < 2 and host != 'b2':
                    world.placement.allocate(provider, {'VCPU': 2 - used})

    world.inventory.stale = stranger
    record = world.planner.replan(group.uuid)
    assert record.reasons == () and lost.hold not in {
        m.hold for m in world.table.members(group.uuid)}
    assert place(world, group, 'web') == 'b2'


class Refusing:
    """Holds whose put is refused, or is not answered."""

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
    refusing = Refusing(world.holds, CapacityGone('no room'))
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
    world.mend()
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


@pytest.mark.parametrize('lease', [0, 3600])
def test_a_replan_interrupted_at_any_call_leaves_no_orphan(world, lease):
    for calls in itertools.count():
        group = world.create(lease=lease)
        lose(world, group, 'db/node-0')
        life = Life(calls)
        planner = world.planner_with(
            Mortal(life, world.table),
            HoldClient(Mortal(life, world.placement.adapter)))
        try:
            planner.replan(group.uuid)
        except Death:
            pass
        world.mend()
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
        """The client gives the group back just before the put."""

        def put(self, *args):
            getattr(world.lifecycle, end)(group.uuid)
            world.holds.put(*args)

        def __getattr__(self, name):
            return getattr(world.holds, name)

    world.planner_with(world.table, Meanwhile()).replan(group.uuid)
    world.mend()
    assert set(world.states(group).values()) <= {'released'}
    assert world.vcpus_used() == 0


def test_a_release_during_an_interrupted_replan_leaves_nothing(world):
    group = world.create()
    lose(world, group, 'web')

    class Meanwhile:
        def put(self, *args):
            world.lifecycle.release(group.uuid)
            world.holds.put(*args)
            raise Death

        def __getattr__(self, name):
            return getattr(world.holds, name)

    with pytest.raises(Death):
        world.planner_with(world.table, Meanwhile()).replan(group.uuid)
    assert world.vcpus_used() == 1
    world.mend()
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_an_unknown_or_busy_group_cannot_be_replanned(world):
    with pytest.raises(GroupUnknown):
        world.planner.replan('00000000-0000-0000-0000-000000000000')
    group = world.create()
    world.table.update_group(group.uuid, [GroupStatus.PLANNED],
                             status=GroupStatus.PLANNING)
    with pytest.raises(errors.GroupBusy):
        world.planner.replan(group.uuid)


def test_a_pass_replans_planned_members_of_a_dead_host(world):
    group = world.create()
    dead = place(world, group, 'db/node-0')
    stranded = sum(m.place.host == dead
                   for m in world.table.members(group.uuid))
    world.inventory.down = {dead}
    world.wait_out_host_grace()
    assert world.reconciler.reconcile() == {
        'stranded': stranded, 'replanned': 1}
    assert set(world.states(group).values()) == {'planned'}
    assert dead not in {m.place.host for m in world.table.members(group.uuid)}
    world.assert_agreement()
    assert world.reconciler.reconcile() == {}


def test_a_built_member_of_a_dead_host_keeps_its_place(world):
    group = world.create()
    built = world.build(group, 'web')
    world.inventory.down = {built.place.host}
    world.wait_out_host_grace()
    world.reconciler.reconcile()
    assert place(world, group, 'web') == built.place.host
    assert world.states(group)['web'] == 'built'


def test_no_member_is_lost_when_all_hosts_are_down(world):
    group = world.create()
    world.inventory.down = set(RACKS)
    world.conf.set_override('host_percent', 100, group='reconciler')
    world.wait_out_host_grace()
    assert world.reconciler.reconcile() == {}
    world.assert_agreement()
    assert set(world.states(group).values()) == {'planned'}


def test_a_pass_replans_the_longest_waiting_groups_up_to_its_limit(
        world):
    world.conf.set_override('replans', 1, group='reconciler')
    groups = []
    for _ in range(2):
        groups.append(world.create(shop(1), lease=0))
        lose(world, groups[-1], 'web')
        world.wait(10)
    assert world.reconciler.reconcile() == {'replanned': 1}
    assert [world.states(group)['web'] for group in groups] == [
        'planned', 'lost']
    assert world.reconciler.reconcile() == {'replanned': 1}
    world.assert_agreement()


def test_an_expired_lease_releases_lost_members_too(world):
    group = world.create(lease=60)
    world.inventory.down = {'a1', 'a2', 'b1'}
    lose(world, group, 'web')
    world.wait(60)
    assert world.reconciler.reconcile()['expired'] == 1
    assert set(world.states(group).values()) == {'released'}
    world.assert_agreement()


def test_a_plan_reports_the_time_of_its_snapshot(world):
    ticks = itertools.count()
    planner = type(world.planner)(
        world.conf, world.inventory, world.table, world.holds, world.clock,
        timer=lambda: float(next(ticks)))
    seconds = planner.plan(shop()).seconds
    assert seconds['snapshot'] == 1.0
    assert seconds['total'] >= seconds['snapshot'] + seconds['solve']
