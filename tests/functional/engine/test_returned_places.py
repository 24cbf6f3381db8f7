# SPDX-License-Identifier: Apache-2.0
"""After the deletion of its server, a member has the same state for all
previous states."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table.changes import member_moves
from nova_holistic.table.records import MemberState
from tests.functional.engine.interleaving import Interleaved, reconcile
from tests.functional.engine.test_reconciler import live_through
from tests.functional.engine.world import shop, SMALL, VCPUS

STATES = ['claimed', 'built', 'failed']
TIMEOUT = 7200


@pytest.fixture
def group(world):
    return world.create(shop(1))


def served(world, group, state):
    """The row of a member in that state, with its server in Nova."""
    row = world.claim(group, 'web')
    world.swap(row)
    status = {'claimed': 'BUILD', 'built': 'ACTIVE', 'failed': 'ERROR'}[state]
    world.instances.set(row.instance_uuid, status, row.place.host,
                        launched=state == 'built')
    world.reconciler.reconcile()
    assert world.states(group)['web'] == state
    return web(world, group)


def web(world, group):
    return next(row for row in world.table.members(group.uuid)
                if row.member.path == 'web')


def delete(world, row, room_is_back=True):
    """Delete a server. Nova frees its allocation a moment later."""
    world.instances.delete(row.instance_uuid)
    if room_is_back:
        world.holds.drop([row.instance_uuid])


@pytest.mark.parametrize('room_is_back', [True, False])
@pytest.mark.parametrize('state', STATES)
def test_the_place_of_a_deleted_server_is_held_again(
        world, group, state, room_is_back):
    before = served(world, group, state)
    delete(world, before, room_is_back)
    reconcile(world)
    after = web(world, group)
    assert (after.state, after.held, after.instance_uuid) == (
        'planned', True, None)
    assert (after.place, after.hold) == (before.place, before.hold)
    world.assert_agreement()
    assert world.table.get_group(group.uuid).status == 'planned'
    world.build(group, 'web')


@pytest.mark.parametrize('end', ['lease', 'release'])
@pytest.mark.parametrize('state', STATES)
def test_after_the_lease_a_deleted_server_leaves_nothing(
        world, group, state, end):
    row = served(world, group, state)
    if end == 'lease':
        world.wait(world.conf.planner.lease)
        world.reconciler.reconcile()
    else:
        world.lifecycle.release(group.uuid)
    delete(world, row)
    world.reconciler.reconcile()
    assert set(world.states(group).values()) == {'released'}
    assert world.table.get_group(group.uuid).status == 'released'
    world.assert_agreement()


def test_a_complete_group_that_was_released_keeps_no_place(world, group):
    rows = [world.build(group, path) for path in ('web', 'db/node')]
    world.table.settle(group.uuid, world.now)
    assert world.table.get_group(group.uuid).status == 'complete'
    world.lifecycle.release(group.uuid)
    delete(world, rows[0])
    assert reconcile(world) == {'gone': 1}
    assert world.states(group) == {'web': 'released', 'db/node-0': 'built'}
    assert world.table.get_group(group.uuid).status == 'complete'
    world.assert_agreement()


@pytest.mark.parametrize('state', STATES)
def test_a_deleted_server_whose_room_was_taken_is_planned_elsewhere(
        world, group, state):
    row = served(world, group, state)
    delete(world, row)
    others = sum(each.place == row.place for each in world.rows()) - 1
    world.placement.allocate(row.place.provider, {'VCPU': VCPUS - others})
    world.reconciler.reconcile()
    after = web(world, group)
    assert (after.state, after.held) == ('planned', True)
    assert after.place != row.place


def test_a_lease_that_is_extended_meanwhile_is_honoured(world, group):
    row = served(world, group, 'built')
    delete(world, row)
    world.wait(world.conf.planner.lease)
    reconcile(world, table=Interleaved(
        world.table, 'release_unleased',
        before=lambda: world.lifecycle.extend(group.uuid, 60)))
    assert world.states(group)['web'] == 'planned'
    world.holds.drop([r.hold for r in world.rows() if r.state == 'released'])


def test_a_place_that_is_corrected_meanwhile_is_returned(world, group):
    """Another engine writes the host to which the server was moved before its
    deletion. Other members may be planned for this host already."""
    row = served(world, group, 'built')
    delete(world, row)
    other = next(place for place in (each.place for each in world.rows())
                 if place.host != row.place.host)

    def correct():
        world.now += timedelta(seconds=1)
        assert member_moves.correct(
            world.table.database, row, world.now, place=other)

    table = Interleaved(world.table, 'change_state', before=correct)
    reconcile(world, table=table)
    assert web(world, group).place == other
    reconcile(world)
    after = web(world, group)
    assert (after.state, after.held, after.place) == ('planned', True, other)
    world.assert_agreement()


@pytest.mark.parametrize('step', ['change_state', 'release_unleased'])
def test_a_group_deleted_while_a_place_is_returned_holds_nothing(
        world, group, step):
    row = served(world, group, 'built')
    delete(world, row)
    reconcile(world, table=Interleaved(
        world.table, step,
        after=lambda: world.lifecycle.delete(group.uuid)))
    assert world.vcpus_used() == 0


def test_a_place_returned_while_its_group_is_deleted_is_not_held(
        world, group):
    """A client deletes the servers, and the group immediately afterwards."""
    delete(world, served(world, group, 'built'))
    world.lifecycle_with(Interleaved(
        world.table, 'delete_group', before=lambda: reconcile(world)),
        world.holds).delete(group.uuid)
    assert world.table.get_group(group.uuid) is None
    assert world.vcpus_used() == 0


def test_the_next_pass_returns_the_place_after_any_interruption(world):
    group = world.create(shop(1), lease=0)

    def work(table, holds):
        delete(world, served(world, group, 'built'), room_is_back=False)
        type(world.reconciler)(world.components(
            table=table, holds=holds)).reconcile()

    for _ in live_through(world, work):
        world.reconciler.reconcile()
        assert set(world.states(group).values()) == {'planned'}
        world.assert_agreement()


def hold_elsewhere(world, row):
    """Write the hold of the member at another host."""
    other = next(uuid for uuid in world.hosts.values()
                 if uuid != row.place.provider)
    elsewhere = replace(row, place=replace(row.place, provider=other))
    world.holds.put([elsewhere], 'blue', 'ann')
    assert world.holds.has(row.hold, elsewhere)


@pytest.mark.parametrize('room_is_back', [True, False])
def test_a_hold_at_another_host_is_not_the_hold_of_the_place(
        world, group, room_is_back):
    row = served(world, group, 'built')
    hold_elsewhere(world, row)
    delete(world, row, room_is_back)
    reconcile(world)
    after = web(world, group)
    assert (after.state, after.held) == ('planned', True)
    assert world.holds.has(after.hold, after)
    world.assert_agreement()


def test_a_server_that_stock_nova_placed_leaves_its_planned_place(
        world, group):
    """The claim was not undone, because the table did not answer, and
    [holistic] failure_mode is yield: Nova chose another host."""
    row = world.claim(group, 'web')
    other = next(name for name in world.hosts if name not in {
        each.place.host for each in world.rows()})
    world.placement.allocate(world.hosts[other], SMALL, row.instance_uuid)
    world.instances.set(row.instance_uuid, 'ACTIVE', other)
    world.reconciler.reconcile()
    built = web(world, group)
    assert (built.state, built.place.host) == ('built', other)
    assert built.hold != row.hold
    delete(world, built)
    for _ in range(3):
        world.wait_out_grace()
        world.reconciler.reconcile()
    after = web(world, group)
    assert (after.state, after.place.host, after.held) == (
        'planned', other, True)
    assert world.holds.has(after.hold, after)
    assert world.holds.exists(row.hold) is None
    world.assert_agreement()


def test_two_passes_return_a_place_once(world, group):
    row = served(world, group, 'built')
    delete(world, row)
    assert reconcile(world, holds=Interleaved(
        world.holds, 'put', before=lambda: reconcile(world))) in (
            {}, {'gone': 1})
    assert world.states(group)['web'] == 'planned'
    world.assert_agreement()


def test_a_failed_server_that_runs_after_all_is_built(world, group):
    """The server was rebuilt or evacuated."""
    row = served(world, group, 'failed')
    assert reconcile(world) == {}
    assert world.table.get_group(group.uuid).status == 'building'
    world.instances.set(row.instance_uuid, 'ACTIVE', row.place.host,
                        launched=True)
    assert reconcile(world) == {'built': 1}
    assert world.states(group)['web'] == 'built'


@pytest.mark.leaves('servers that were shelved have no allocation')
@pytest.mark.parametrize('status', ['SHELVED', 'SHELVED_OFFLOADED'])
def test_a_server_that_was_shelved_at_once_is_built(world, group, status):
    """The server keeps its member when it is set to ERROR."""
    row = world.claim(group, 'web')
    world.swap(row)
    offloaded = status == 'SHELVED_OFFLOADED'
    if offloaded:
        world.holds.drop([row.instance_uuid])
    host = None if offloaded else row.place.host
    world.instances.set(row.instance_uuid, status, host, launched=True)
    assert reconcile(world) == {'built': 1}
    assert web(world, group).place == row.place
    world.instances.set(row.instance_uuid, 'ERROR', host, launched=True)
    world.wait_out_grace()
    assert reconcile(world) == {}
    if not offloaded:
        world.holds.drop([row.instance_uuid])


@pytest.mark.leaves('a server that was shelved has no allocation')
def test_a_server_that_is_set_to_error_before_it_is_seen_keeps_its_member(
        world, group):
    """The server was shelved and offloaded, and still exists."""
    row = world.claim(group, 'web')
    world.swap(row)
    world.holds.drop([row.instance_uuid])
    world.instances.set(row.instance_uuid, 'ERROR', launched=True)
    world.wait_out_grace()
    assert reconcile(world) == {'built': 1}
    assert web(world, group).instance_uuid == row.instance_uuid


def stalled(world, group):
    """The row of a claimed member. The build of its server has stalled,
    because the conductor was killed."""
    row = world.claim(group, 'web')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'BUILD')
    return row


@pytest.fixture
def unleased(world):
    return world.create(shop(1), lease=0)


def test_a_build_without_progress_loses_its_claim(world, unleased):
    row = stalled(world, unleased)
    world.wait(TIMEOUT - 1)
    assert reconcile(world) == {}
    world.wait(1)
    assert reconcile(world) == {'stalled': 1}
    assert world.states(unleased)['web'] == 'planned'
    # The server may still be created, so it keeps its allocation.
    assert world.holds.has(row.instance_uuid, row)
    assert world.holds.has(row.hold, row)
    world.holds.drop([row.instance_uuid])
    world.assert_agreement()


def test_a_build_that_makes_progress_keeps_its_claim(world, unleased):
    row = stalled(world, unleased)
    world.wait(TIMEOUT)
    world.instances.progress[row.instance_uuid] = world.now
    world.wait(TIMEOUT - 1)
    assert reconcile(world) == {}
    assert world.states(unleased)['web'] == 'claimed'


def test_without_a_timeout_no_claim_of_a_build_is_undone(world, unleased):
    world.conf.set_override('build_timeout', 0, group='reconciler')
    stalled(world, unleased)
    world.wait(100 * TIMEOUT)
    assert reconcile(world) == {}


def test_a_server_created_late_belongs_to_no_group(world, unleased):
    """Another server has the member, and both have their own allocations."""
    late = stalled(world, unleased)
    world.wait(TIMEOUT)
    reconcile(world)
    world.build(unleased, 'web')
    world.instances.set(late.instance_uuid, 'ACTIVE', late.place.host,
                        launched=True)
    assert reconcile(world) == {}
    row = web(world, unleased)
    assert (row.state, row.instance_uuid == late.instance_uuid) == (
        MemberState.BUILT, False)
    assert world.holds.has(late.instance_uuid, late)
    assert world.holds.has(row.instance_uuid, row)


def test_a_server_that_moved_to_an_unknown_host_leaves_a_lost_member(
        world, group):
    row = served(world, group, 'built')
    world.instances.set(row.instance_uuid, 'ACTIVE', 'elsewhere',
                        launched=True)
    assert reconcile(world) == {'moved': 1}
    delete(world, row)
    assert reconcile(world) == {'gone': 1}
    assert world.states(group)['web'] == 'lost'


def test_the_place_of_a_resized_server_is_held_as_planned(world):
    """The group gets the amounts of its definition, and not those of the
    flavor to which its user has resized the server."""
    group = world.create(shop(1), lease=0)
    row = served(world, group, 'built')
    found = world.placement.allocation(row.instance_uuid)
    world.placement.adapter.put(
        f'/allocations/{row.instance_uuid}', microversion='1.38', json={
            **found, 'allocations': {row.place.provider: {
                'resources': {'VCPU': 2, 'MEMORY_MB': 512}}}})
    world.instances.set(row.instance_uuid, 'ACTIVE', row.place.host,
                        launched=True, flavor='large')
    assert reconcile(world) == {'resized': 1}
    assert web(world, group).member.requirements.resources['VCPU'] == 2
    delete(world, row)
    reconcile(world)
    after = web(world, group)
    assert after.state == 'planned'
    assert dict(after.member.requirements.resources) == SMALL
    world.assert_agreement()
    world.build(group, 'web')


def test_a_server_that_is_resized_back_is_as_planned(world):
    group = world.create(shop(1), lease=0)
    row = served(world, group, 'built')
    for vcpus, flavor in ((2, 'large'), (1, 'small')):
        world.placement.adapter.put(
            f'/allocations/{row.instance_uuid}', microversion='1.38', json={
                **world.placement.allocation(row.instance_uuid),
                'allocations': {row.place.provider: {'resources': {
                    'VCPU': vcpus, 'MEMORY_MB': 512}}}})
        world.instances.set(row.instance_uuid, 'ACTIVE', row.place.host,
                            launched=True, flavor=flavor)
        assert reconcile(world) == {'resized': 1}
    assert web(world, group).planned is None
