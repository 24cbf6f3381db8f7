# SPDX-License-Identifier: Apache-2.0
"""A planned volume becomes at most one volume of Cinder, and its capacity is
counted until this volume exists."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from nova_holistic.table.changes.group_purge import Choice, obstacle, purge
from nova_holistic.table.changes import volume_states
from nova_holistic.table import errors
from nova_holistic.table.history.pages import Page
from nova_holistic.table.records import GroupStatus, MemberState, Task
from nova_holistic.table.schema.volume_model import VolumeRow
from tests.unit.table import builders
from tests.unit.table.builders import new_uuid, NOON

LATER = NOON + timedelta(minutes=1)
POOL = 'disks@lvm#1'


def planned(table, count=2, **fields):
    group = builders.planned(table, builders.a_group(**fields), web=None)
    assert table.volumes.write(
        group.uuid, builders.volumes_of(group, count))
    return group


def states(table, group):
    return [str(row.state) for row in table.volumes.of_group(group.uuid)]


def claimed(table, group, path='data'):
    return table.volumes.claim(group.uuid, path, new_uuid(), NOON).row


def test_rows_are_read_as_they_were_written(table):
    group = planned(table, 1)
    (row,) = table.volumes.of_group(group.uuid)
    (written,) = builders.volumes_of(group, 1)
    assert row == type(written)(**{
        **{name: getattr(written, name) for name in written.__slots__},
        'id': row.id})


def test_a_volume_of_cinder_gets_one_row_and_gets_it_again(table):
    group, uuid = planned(table), new_uuid()
    first = table.volumes.claim(group.uuid, 'data', uuid, NOON, 'blue')
    assert (first.row.path, first.repeated) == ('data-0', False)
    again = table.volumes.claim(group.uuid, 'data', uuid, LATER)
    assert again.repeated and again.row == first.row
    assert table.volumes.of_volume(uuid) == first.row
    assert states(table, group) == ['claimed', 'planned']


def test_a_row_that_was_planned_again_elsewhere_is_not_claimed(table):
    """SQLite gives the numbers of deleted rows to new rows."""
    group = planned(table, 1)
    (seen,) = table.volumes.of_group(group.uuid)
    assert table.volumes.write(
        group.uuid, [replace(seen, id=None, pool='disks@lvm#2')])
    assert volume_states.change(
        table.database, seen, MemberState.CLAIMED, LATER,
        volume_uuid=new_uuid()) is None
    assert states(table, group) == ['planned']


def test_a_second_volume_is_refused(table):
    group = planned(table)
    claimed(table, group, 'data-1')
    with pytest.raises(errors.MemberTaken, match='another volume'):
        claimed(table, group, 'data-1')
    assert claimed(table, group).path == 'data-0'
    with pytest.raises(errors.MemberTaken):
        claimed(table, group)


def test_a_row_of_another_member_is_refused(table):
    group, uuid = planned(table), new_uuid()
    table.volumes.claim(group.uuid, 'data-0', uuid, NOON)
    with pytest.raises(errors.MemberNotPlannable, match='data-0'):
        table.volumes.claim(group.uuid, 'data-1', uuid, NOON)


def test_unknown_groups_members_and_projects_are_refused(table):
    group = planned(table)
    for ask in (lambda *at: table.volumes.claim(
            at[0], at[1], new_uuid(), NOON, at[2]), table.volumes.find):
        with pytest.raises(errors.GroupUnknown):
            ask(new_uuid(), 'data', 'blue')
        with pytest.raises(errors.GroupUnknown):
            ask(group.uuid, 'data', 'red')
        with pytest.raises(errors.MemberUnknown):
            ask(group.uuid, 'db/web', 'blue')


@pytest.mark.parametrize('status', GroupStatus)
def test_only_groups_with_a_plan_have_claimable_volumes(table, status):
    group = planned(table, 1)
    builders.force_status(table, group.uuid, status)
    if status in ('planned', 'building', 'complete', 'degraded'):
        assert claimed(table, group).state == MemberState.CLAIMED
    else:
        with pytest.raises(errors.MemberNotPlannable, match=status):
            claimed(table, group)
        assert states(table, group) == ['planned']


def test_simultaneous_creates_get_different_rows(table):
    group = planned(table, 6)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(
            lambda _: claimed(table, group).path, range(6)))
    assert sorted(found) == [f'data-{number}' for number in range(6)]


def test_simultaneous_requests_for_one_volume_get_one_row(table):
    group, uuid = planned(table, 6), new_uuid()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: table.volumes.claim(
            group.uuid, 'data', uuid, NOON), range(6)))
    assert len({each.row.path for each in found}) == 1
    assert [each.repeated for each in found].count(False) == 1
    assert states(table, group).count('claimed') == 1


def test_capacity_is_counted_until_cinder_counts_it(table):
    group, other = planned(table), planned(table, 1)
    assert table.volumes.planned_gb() == {POOL: 30}
    assert table.volumes.planned_gb(but_of=group.uuid) == {POOL: 10}
    row = claimed(table, group)
    assert table.volumes.planned_gb() == {POOL: 30}
    assert table.volumes.built(row, LATER)
    assert table.volumes.planned_gb() == {POOL: 20}
    assert table.volumes.planned_gb(built_since=NOON) == {POOL: 30}
    assert table.volumes.planned_gb(built_since=LATER) == {POOL: 20}
    assert table.volumes.release(group.uuid, NOON) == 1
    assert table.volumes.planned_gb() == {POOL: 10}
    table.delete_group(other.uuid)
    assert table.volumes.planned_gb() == {}
    assert table.volumes.placed(group.uuid) == {'data-0': POOL}


def test_a_failed_create_is_undone_once(table):
    group = planned(table, 1)
    row = claimed(table, group)
    assert table.volumes.undo(row, LATER)
    assert not table.volumes.undo(row, LATER)
    second = claimed(table, group)
    assert second.generation == row.generation + 2
    assert not table.volumes.built(row, LATER)
    assert table.volumes.undo(second, LATER, refused=True)
    assert states(table, group) == ['lost']


@pytest.mark.parametrize('end', ['undo', 'deleted'])
@pytest.mark.parametrize('why', ['release', 'lease', 'nothing'])
def test_a_row_without_its_volume_is_planned_or_released(table, why, end):
    group = planned(table, 1, lease_expires_at=(
        LATER if why == 'lease' else None))
    row = claimed(table, group)
    if end == 'deleted':
        assert table.volumes.built(row, NOON)
    if why == 'release':
        assert table.volumes.release(
            group.uuid, NOON, with_volumes=True) == 0
        assert not getattr(table.volumes, end)(row, LATER)
    row = table.volumes.of_volume(row.volume_uuid)
    assert getattr(table.volumes, end)(row, LATER)
    assert states(table, group) == [
        'planned' if why == 'nothing' else 'released']
    assert table.volumes.of_volume(row.volume_uuid) is None


def test_an_expired_lease_releases_unclaimed_volumes(table):
    group = planned(table, lease_expires_at=LATER)
    planned(table)
    claimed(table, group)
    assert table.expired_groups(NOON) == ()
    assert table.volumes.expire(group.uuid, NOON) == 0
    assert [g.uuid for g in table.expired_groups(LATER)] == [group.uuid]
    assert table.volumes.expire(group.uuid, LATER) == 1
    assert states(table, group) == ['claimed', 'released']


def test_an_update_that_may_renew_the_lease_keeps_the_volumes(table):
    group = planned(table, lease_expires_at=NOON)
    row = claimed(table, group)
    assert table.update_group(group.uuid, [group.status], task=Task.UPDATING)
    assert table.volumes.expire(group.uuid, LATER) == 0
    assert table.volumes.deleted(row, LATER)
    assert states(table, group) == ['planned', 'planned']
    assert table.update_group(group.uuid, [group.status], task=None)
    assert table.volumes.expire(group.uuid, LATER) == 2


@pytest.mark.parametrize('status', ['released', 'unplaceable', 'error'])
def test_volumes_of_groups_without_a_plan_are_released(table, status):
    other = planned(table)
    group = builders.a_group(GroupStatus(status), task=Task.REPLANNING)
    table.create_group(group)
    assert table.volumes.write(group.uuid, builders.volumes_of(group, 2))
    assert table.volumes.release_unplanned(LATER) == 0
    assert table.update_group(group.uuid, [group.status], task=None)
    assert table.volumes.release_unplanned(LATER) == 2
    assert states(table, group) == ['released', 'released']
    assert states(table, other) == ['planned', 'planned']


def test_selected_volumes_are_released(table):
    group = planned(table, 3)
    assert table.volumes.release(group.uuid, NOON, ['data-1']) == 1
    assert states(table, group) == ['planned', 'released', 'planned']
    with pytest.raises(errors.MemberReleased):
        claimed(table, group, 'data-1')


def test_new_plans_keep_the_rows_with_volumes(table):
    group = planned(table)
    row = claimed(table, group)
    assert table.volumes.write(
        group.uuid, builders.volumes_of(group, 3, 50)[1:])
    assert [(each.path, each.volume.size_gb)
            for each in table.volumes.of_group(group.uuid)] == [
        ('data-0', 10), ('data-1', 50), ('data-2', 50)]
    assert table.volumes.of_volume(row.volume_uuid) == row


def test_new_rows_follow_the_rows_with_volumes(table):
    group = planned(table, 3)
    claimed(table, group, 'data-2')
    assert table.volumes.write(
        group.uuid, builders.volumes_of(group, 2))
    assert [each.path for each in table.volumes.of_group(group.uuid)] == [
        'data-2', 'data-0', 'data-1']
    with table.database.reader() as session:
        positions = session.scalars(sa.select(VolumeRow.position)).all()
    assert len(set(positions)) == 3


def test_changes_are_events_of_the_group(table):
    group = planned(table, 1)
    table.volumes.built(claimed(table, group), NOON)
    assert [(each.member, each.from_state, each.to_state, each.host)
            for each in table.history.read(Page(group.uuid, 10))
            if each.member] == [
        ('data-0', 'planned', 'claimed', POOL),
        ('data-0', 'claimed', 'built', POOL)]


def test_a_group_with_a_volume_is_not_purged(table):
    group, choice = planned(table, 1), Choice()
    table.volumes.built(claimed(table, group), NOON)
    table.release([row.hold for row in table.members(group.uuid)], NOON)
    table.forget_holds([row.hold for row in table.members(group.uuid)])
    builders.force_status(table, group.uuid, GroupStatus.RELEASED)
    assert not purge(table.database, group.uuid, choice)
    assert obstacle(table.database, group.uuid, choice) == (
        "has volume 'data-0'")
    (row,) = table.volumes.of_group(group.uuid)
    assert table.volumes.deleted(row, NOON)
    assert purge(table.database, group.uuid, choice)
    assert table.volumes.of_group(group.uuid) == ()
