# SPDX-License-Identifier: Apache-2.0
"""Unclaimed capacity is freed, and all other allocations remain."""

from datetime import timedelta

import pytest

from nova_holistic.holds.errors import HoldsError
from nova_holistic.messaging import errors
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.functional.engine.world import shop, SMALL
from tests.unit.table import builders

UNKNOWN = '00000000-0000-4000-8000-000000000000'


def status(world, group):
    return str(world.table.get_group(group.uuid).status)


def test_a_released_group_holds_nothing(world):
    group = world.create()
    done = world.lifecycle.release(group.uuid)
    assert done.released == ('web', 'db/node-0', 'db/node-1')
    assert done.kept == ()
    assert status(world, group) == 'released'
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_one_named_member_is_released(world):
    group = world.create()
    assert world.lifecycle.release(
        group.uuid, ['db/node-1']).released == ('db/node-1',)
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'planned', 'db/node-1': 'released'}
    assert status(world, group) == 'planned'
    world.assert_agreement()


def test_releasing_a_counted_member_releases_its_free_servers(world):
    group = world.create()
    world.build(group, 'db/node-0')
    done = world.lifecycle.release(group.uuid, ['db/node'])
    assert (done.released, done.kept) == (('db/node-1',), ('db/node-0',))
    world.assert_agreement()


def test_releasing_a_nested_group_releases_its_members(world):
    group = world.create()
    assert world.lifecycle.release(group.uuid, ['db']).released == (
        'db/node-0', 'db/node-1')
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'released', 'db/node-1': 'released'}
    world.assert_agreement()


def test_releasing_the_replicas_of_a_group_releases_each(world):
    group = world.create({'group': {'name': 'shop', 'groups': [{
        'name': 'shard', 'count': {'desired': 2, 'max': 3},
        'members': [{'name': 'node', 'resources': SMALL}]}]}})
    assert world.lifecycle.release(group.uuid, ['shard-1']).released == (
        'shard-1/node',)
    assert world.lifecycle.release(group.uuid, ['shard']).released == (
        'shard-0/node',)


def test_a_described_member_without_servers_is_released(world):
    document = shop()
    document['group']['members'].append({
        'name': 'more', 'count': {'min': 0, 'desired': 0, 'max': 2},
        'resources': SMALL})
    group = world.create(document)
    assert world.lifecycle.release(
        group.uuid, ['more', 'web']).released == ('web',)
    with pytest.raises(errors.StaleRevision):
        world.lifecycle.release(group.uuid, ['more'], 2)


def test_a_member_of_a_group_without_a_plan_is_released(world):
    group = world.create(shop(nodes=3))
    assert status(world, group) == 'unplaceable'
    for name in 'web', 'db/node', 'db/node-2', 'db':
        assert world.lifecycle.release(group.uuid, [name]).released == ()
    with pytest.raises(table_errors.MemberUnknown):
        world.lifecycle.release(group.uuid, ['cache'])


def test_a_missing_member_is_released(world):
    """Only one of three servers has a place. A release of the member ends the
    reasons for the two others, even if the group has none of its rows."""
    document = shop()
    document['group']['groups'][0]['members'][0].update(
        count={'min': 0, 'desired': 3}, resources={'VCPU': 999})
    group = world.create(document)
    assert world.states(group) == {'web': 'planned'}
    assert world.table.get_group(group.uuid).reasons
    world.lifecycle.release(group.uuid, ['db/node-1'])
    assert {tuple(reason['missing']) for reason in world.table.get_group(
        group.uuid).reasons} == {('db/node-0', 'db/node-2')}
    world.lifecycle.release(group.uuid, ['db'])
    assert not world.table.get_group(group.uuid).reasons


def test_an_unknown_member_is_an_error_and_frees_nothing(world):
    group = world.create()
    with pytest.raises(table_errors.MemberUnknown):
        world.lifecycle.release(group.uuid, ['web', 'cache'])
    assert set(world.states(group).values()) == {'planned'}


def test_a_release_keeps_and_reports_built_members(world):
    group = world.create()
    world.build(group, 'web')
    done = world.lifecycle.release(group.uuid)
    assert done.kept == ('web',)
    assert status(world, group) == 'complete'
    assert world.vcpus_used() == 1
    world.assert_agreement()


def test_a_second_release_releases_nothing(world):
    group = world.create()
    world.lifecycle.release(group.uuid)
    assert world.lifecycle.release(group.uuid).released == ()


class Meanwhile:
    """A table that calls a function once, just before one of its methods."""

    def __init__(self, table, call, event):
        self._table = table
        self._call = call
        self._events = iter([event])

    def __getattr__(self, name):
        if name == self._call:
            next(self._events, lambda: None)()
        return getattr(self._table, name)


def test_a_release_skips_a_group_created_with_reused_row_ids(world):
    """SQLite reuses the IDs of deleted rows."""
    group, later = world.create(), []

    def replaced():
        world.lifecycle.delete(group.uuid)
        later.append(world.create())

    world.lifecycle_with(
        Meanwhile(world.table, 'release', replaced), world.holds,
    ).release(group.uuid)
    assert set(world.states(later[0]).values()) == {'planned'}
    world.assert_agreement()


def update(world, group, document):
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': document},
            [GroupStatus.PLANNED, GroupStatus.BUILDING], 1), world.now)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))


def test_a_release_skips_a_member_with_a_reused_row_id(world):
    """An update has reused the row ID of the member for another member."""
    group, document = world.create(), shop(nodes=1)['group']
    document['groups'][0]['members'].append({
        'name': 'cache', 'resources': SMALL})
    done = world.lifecycle_with(
        Meanwhile(world.table, 'release', lambda: update(
            world, group, document)), world.holds,
    ).release(group.uuid, ['db/node-1'])
    assert done.released == ()
    assert world.states(group)['db/cache'] == 'planned'
    world.assert_agreement()


def test_a_member_replanned_during_its_release_is_released(world):
    group = world.create()

    def move():
        document = shop()['group']
        document['members'][0]['resources'] = {'VCPU': 2, 'MEMORY_MB': 512}
        update(world, group, document)
        assert world.states(group)['web'] == 'planned'

    done = world.lifecycle_with(
        Meanwhile(world.table, 'release', move), world.holds,
    ).release(group.uuid, ['web'])
    assert done.released == ('web',)
    assert world.states(group)['web'] == 'released'
    world.assert_agreement()


@pytest.mark.parametrize('name, moment, more', [
    ('delete', 'get_group', ()), ('delete', 'boots', ()),
    ('delete', 'members', ()), ('delete', 'release', ()),
    ('extend', 'get_group', (60,)), ('extend', 'extend_lease', (60,)),
    ('release', 'group_with_members', (None,)),
    ('release', 'update_group', (None,)),
    ('release', 'group_with_members', (['web'],)),
    ('release', 'release', (['web'],))])
def test_a_group_that_is_updated_meanwhile_is_not_changed(
        world, name, moment, more):
    """The client has named the revision that it has seen."""
    group, document = world.create(), shop(nodes=1)['group']
    seen = []

    def revise():
        update(world, group, document)
        seen.append(world.table.get_group(group.uuid))

    lifecycle = world.lifecycle_with(
        Meanwhile(world.table, moment, revise), world.holds)
    with pytest.raises(errors.StaleRevision, match='at revision 2, not 1'):
        getattr(lifecycle, name)(group.uuid, *more, 1)
    assert seen == [world.table.get_group(group.uuid)]
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'planned'}
    world.assert_agreement()
    getattr(lifecycle, name)(group.uuid, *more, 2)


def test_a_group_of_built_servers_that_is_updated_meanwhile_is_not_deleted(
        world):
    """The deletion of the rows is the first change of such a group."""
    group, document = world.create(), shop()['group']
    for path in world.states(group):
        world.build(group, path)
    document['members'].append({
        'name': 'cache', 'resources': {'VCPU': 1}})
    lifecycle = world.lifecycle_with(Meanwhile(
        world.table, 'delete_group',
        lambda: update(world, group, document)), world.holds)
    with pytest.raises(errors.StaleRevision, match='at revision 2, not 1'):
        lifecycle.delete(group.uuid, 1)
    assert world.states(group)['cache'] == 'planned'
    world.assert_agreement()
    lifecycle.delete(group.uuid, 2)
    assert world.table.get_group(group.uuid) is None


def test_an_unknown_group_is_refused(world):
    for call in (world.lifecycle.release, world.lifecycle.delete,
                 lambda uuid: world.lifecycle.extend(uuid, 60)):
        with pytest.raises(table_errors.GroupUnknown):
            call(UNKNOWN)


def test_a_group_being_planned_cannot_be_released_or_deleted(world):
    group = world.create()
    builders.force_status(world.table, group.uuid, GroupStatus.PLANNING)
    for call in (world.lifecycle.release, world.lifecycle.delete):
        with pytest.raises(errors.GroupBusy):
            call(group.uuid)


def test_an_expired_lease_frees_the_planned_members(world):
    group = world.create(lease=60)
    world.build(group, 'web')
    assert world.lifecycle.expire() == []
    world.wait(60)
    assert world.lifecycle.expire() == [group.uuid]
    assert world.states(group) == {
        'web': 'built', 'db/node-0': 'released', 'db/node-1': 'released'}
    assert world.vcpus_used() == 1
    assert world.lifecycle.expire() == []
    world.assert_agreement()


def test_a_lease_extended_in_time_does_not_expire(world):
    group = world.create(lease=60)
    world.wait(59)
    extended = world.lifecycle.extend(group.uuid, 60)
    assert extended.lease_expires_at == world.now + timedelta(seconds=60)
    world.wait(59)
    assert world.lifecycle.expire() == []
    world.wait(1)
    assert world.lifecycle.expire() == [group.uuid]


def test_a_lease_extended_while_it_expires_is_honoured(world):
    group = world.create(lease=60)
    world.wait(60)
    expired_at = world.now
    world.lifecycle.extend(group.uuid, 60)
    # An expiry that has read the old lease continues with this step.
    world.table.expire(group.uuid, expired_at)
    assert set(world.states(group).values()) == {'planned'}


def test_a_lease_that_has_expired_is_not_extended(world):
    """The engine stops after it has released the members of the group."""
    group = world.create(lease=60)
    world.wait(60)
    world.table.expire(group.uuid, world.now)
    with pytest.raises(errors.LeaseRefused, match='released'):
        world.lifecycle.extend(group.uuid, 60)
    assert world.table.get_group(group.uuid).lease_expires_at == world.now


def test_a_lease_is_not_extended_after_all_members_are_released(world):
    """The engine stops before it has updated the status of the group."""
    group = world.create(lease=60)
    world.table.release(
        [row.hold for row in world.table.members(group.uuid)], world.now)
    with pytest.raises(errors.LeaseRefused, match='released'):
        world.lifecycle.extend(group.uuid, 60)


def test_a_lease_is_extended_although_a_task_begins_meanwhile(
        world, monkeypatch):
    group = world.create(lease=60)
    extend = world.table.extend_lease

    def extended_lease(*change):
        done = extend(*change)
        builders.force_status(world.table, group.uuid, GroupStatus.PLANNING)
        return done

    monkeypatch.setattr(world.table, 'extend_lease', extended_lease)
    extended = world.lifecycle.extend(group.uuid, 600)
    assert extended.lease_expires_at == world.now + timedelta(seconds=600)


def test_a_zero_lease_and_a_released_group_are_not_extended(world):
    group = world.create()
    with pytest.raises(errors.LeaseRefused):
        world.lifecycle.extend(group.uuid, 0)
    world.lifecycle.release(group.uuid)
    with pytest.raises(errors.LeaseRefused, match='released'):
        world.lifecycle.extend(group.uuid, 60)


def test_deleting_a_group_keeps_only_its_servers_allocations(world):
    group = world.create()
    row = world.build(group, 'web')
    world.lifecycle.delete(group.uuid)
    assert world.table.get_group(group.uuid) is None
    assert world.holds.has(row.instance_uuid, row)
    assert world.vcpus_used() == 1


def test_a_group_deleted_during_a_claim_leaves_no_hold(world):
    group = world.create()
    world.claim(group, 'web')
    world.lifecycle.delete(group.uuid)
    assert world.vcpus_used() == 0


def test_a_claim_undone_while_its_group_is_deleted_leaves_no_hold(
        world, monkeypatch):
    group = world.create()
    row = world.claim(group, 'web')
    world.swap(row)
    delete_group = world.table.delete_group

    def undo_and_delete(uuid, *revision):
        world.holds.unswap(row, row.instance_uuid, 'blue', 'ann')
        assert world.table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.PLANNED, world.now,
            of_instance=row.instance_uuid, instance_uuid=None, held=True)
        return delete_group(uuid, *revision)

    monkeypatch.setattr(world.table, 'delete_group', undo_and_delete)
    world.lifecycle.delete(group.uuid)
    assert world.vcpus_used() == 0


def test_an_abandoned_claim_of_a_released_group_is_freed(world):
    group = world.create(lease=0)
    world.swap(world.claim(group, 'web'))
    assert world.lifecycle.release(group.uuid).kept == ('web',)
    world.wait_out_grace()
    world.reconcile_members()
    assert set(world.states(group).values()) == {'released'}
    assert world.vcpus_used() == 0
    world.assert_agreement()


def test_the_reconciler_completes_a_release_placement_missed(world):
    class Deaf:
        def drop(self, *holds):
            raise HoldsError('no answer')

    group = world.create()
    with pytest.raises(HoldsError):
        world.lifecycle_with(world.table, Deaf()).release(group.uuid)
    assert set(world.states(group).values()) == {'released'}
    assert world.vcpus_used() == 3
    world.reconciler.reconcile()
    assert world.vcpus_used() == 0
    world.reconcile_members()
    world.assert_agreement()


def test_a_failed_member_can_be_released(world):
    group = world.create(shop(1))
    row = world.claim(group, 'web')
    world.swap(row)
    world.table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.FAILED, world.now)
    assert world.lifecycle.release(group.uuid).released == (
        'web', 'db/node-0')


def test_a_group_that_is_released_before_a_replan_begins_stays_released(
        world):
    group = world.create()
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.REPLANNING, {}, [GroupStatus.PLANNED]), world.now)
    world.lifecycle.release(group.uuid)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))
    assert status(world, group) == 'released'
    assert set(world.states(group).values()) == {'released'}
    assert world.table.get_group(group.uuid).task is None
    assert world.vcpus_used() == 0
