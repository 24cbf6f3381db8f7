# SPDX-License-Identifier: Apache-2.0
"""A pass of the reconciler plans lost members again."""

from tests.functional.engine.member_losses import lose, place
from tests.functional.engine.world import RACKS, shop


def test_a_pass_replans_planned_members_of_an_unavailable_host(world):
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


def test_a_built_member_of_an_unavailable_host_keeps_its_place(world):
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
