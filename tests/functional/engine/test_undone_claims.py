# SPDX-License-Identifier: Apache-2.0
"""The claim of a server that was never built is undone in time, without effect
on other consumers."""

import pytest

from nova_holistic.reconcile.instances import InstanceView
from tests.functional.engine.interleaving import Interleaved, reconcile
from tests.functional.engine.world import shop, SMALL, VCPUS

MICROVERSION = '1.38'


@pytest.fixture
def group(world):
    return world.create(shop(1), lease=0)


@pytest.fixture
def claimed(world, group):
    """The row of a claimed member. Its server has an allocation, and Nova's
    API does not know the server."""
    row = world.claim(group, 'web')
    world.swap(row)
    return row


def move_allocation(world, row):
    """Move the allocation of a row's server to another host, as Nova does."""
    found = world.placement.allocation(row.instance_uuid)
    provider_uuid = next(provider for provider in world.hosts.values()
                         if provider != row.place.provider)
    world.placement.adapter.put(
        f'/allocations/{row.instance_uuid}', microversion=MICROVERSION,
        json={**found, 'allocations': {provider_uuid: {'resources': SMALL}}})


@pytest.mark.parametrize('known', [False, True])
def test_a_claim_is_undone_when_the_grace_has_passed_and_not_before(
        world, group, claimed, known):
    """Nova's API does not know the server, or a user has set it to ERROR:
    neither proves that it is not built."""
    if known:
        world.instances.set(claimed.instance_uuid, 'ERROR', fault=False)
    world.wait(world.conf.reconciler.grace - 1)
    assert reconcile(world) == {}
    assert world.states(group)['web'] == 'claimed'
    assert world.holds.has(claimed.instance_uuid, claimed)
    world.wait(1)
    assert reconcile(world) == {'unclaimed': 1}
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


@pytest.mark.parametrize('end', ['failed', 'deleted'])
def test_a_claim_is_undone_at_once_if_nova_proves_that_nothing_follows(
        world, group, claimed, end):
    if end == 'failed':
        world.instances.set(claimed.instance_uuid, 'ERROR')
    else:
        world.instances.delete(claimed.instance_uuid)
    assert reconcile(world) == {'unclaimed': 1}
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


@pytest.mark.parametrize('room_left', [True, False])
def test_a_failed_build_whose_room_was_taken_loses_its_place(
        world, group, claimed, room_left):
    """Nova frees the allocation when the last attempt has failed."""
    world.holds.drop([claimed.instance_uuid])
    if not room_left:
        others = sum(row.place == claimed.place for row in world.rows()) - 1
        world.placement.allocate(
            claimed.place.provider, {'VCPU': VCPUS - others})
    world.instances.set(claimed.instance_uuid, 'ERROR')
    assert reconcile(world) == {'unclaimed': 1}
    assert world.states(group)['web'] == ('planned' if room_left else 'lost')


def test_a_claim_whose_hold_exists_is_not_undone_immediately(
        world, group):
    """The scheduler is still working, but Nova has stopped waiting for it."""
    row = world.claim(group, 'web')
    world.instances.set(row.instance_uuid, 'ERROR')
    assert reconcile(world) == {}
    assert world.states(group)['web'] == 'claimed'
    world.swap(row)
    assert reconcile(world) == {'unclaimed': 1}


def test_a_member_whose_server_has_room_elsewhere_is_held_where_it_was(
        world, group, claimed):
    """The allocation belongs to the server, and is not exchanged for a
    hold."""
    world.instances.set(claimed.instance_uuid, 'ERROR')
    move_allocation(world, claimed)
    before = world.placement.allocation(claimed.instance_uuid)
    assert reconcile(world) == {'unclaimed': 1}
    assert world.states(group)['web'] == 'planned'
    assert world.placement.allocation(claimed.instance_uuid) == before
    assert world.holds.has(claimed.hold, claimed)


def test_a_member_whose_room_is_given_back_meanwhile_is_held_again(
        world, group, claimed):
    """Nova deletes the allocation of the server after the pass has read it."""
    world.wait_out_grace()
    assert reconcile(world, holds=Interleaved(
        world.holds, 'unswap',
        before=lambda: world.holds.drop([claimed.instance_uuid]))) == {
            'unclaimed': 1}
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


def test_a_server_that_is_built_while_its_claim_is_undone_keeps_its_member(
        world, group, claimed):
    """The server was in ERROR when the pass read it, but its build
    continued."""
    host = claimed.place.host

    def built():
        world.instances.views[claimed.instance_uuid] = InstanceView(
            claimed.instance_uuid, host, 'ACTIVE', launched=True)
        assert reconcile(world) == {'built': 1}

    world.instances.set(claimed.instance_uuid, 'ERROR')
    world.wait_out_grace()
    reconcile(world, table=Interleaved(
        world.table, 'change_state', before=built))
    assert world.states(group)['web'] == 'built'
    world.assert_agreement()


def test_a_group_deleted_while_a_claim_is_undone_holds_nothing(
        world, group, claimed):
    """The deletion searched for the hold before it was restored."""
    world.wait_out_grace()
    assert reconcile(world, holds=Interleaved(
        world.holds, 'unswap',
        before=lambda: world.lifecycle.delete(group.uuid))) == {}
    assert world.vcpus_used() == 0


def test_a_claim_does_not_stand_while_it_is_undone(world, group, claimed):
    """A slow scheduler confirms the claim at that moment. Its server would
    have no allocation."""
    assert set(world.table.standing([claimed.id])) == {claimed.id}
    found = []

    def confirm():
        found.append(world.table.standing([claimed.id]))

    world.wait(world.conf.reconciler.grace)
    assert reconcile(world, holds=Interleaved(
        world.holds, 'unswap', before=confirm, after=confirm)) == {
            'unclaimed': 1}
    assert found == [{}, {}]
