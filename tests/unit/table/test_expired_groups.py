# SPDX-License-Identifier: Apache-2.0
"""Searches for expired leases find each group that has something to release,
and their cost does not depend on other groups.

``test_stateful`` compares them with the table after each of many operations.
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.queries import expired_groups
from nova_holistic.table.queries.expired_groups import ExpiredGroups
from nova_holistic.table.records import GroupStatus, MemberState, Task
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders
from tests.unit.table.test_outlines import counted_steps, forget_changes

NOON = builders.NOON
LATER = NOON + timedelta(hours=1)


def leased(table, **fields):
    """A group of two planned members, whose lease ends at noon."""
    return builders.planned(table, builders.a_group(
        **{'lease_expires_at': NOON, **fields}), node=2)


def built(table, **fields):
    """Such a group whose members have servers."""
    group = leased(table, **fields)
    for number in range(2):
        row = table.claim(
            group.uuid, f'db/node-{number}', builders.new_uuid(), NOON)
        assert table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.BUILT, NOON)
    table.settle(group.uuid, NOON)
    return group


def found(table, now=NOON):
    return {group.uuid for group in table.expired_groups(now)}


def searched(table):
    """Search twice, so that later searches follow changes, and let the changes
    be long ago."""
    for _ in range(2):
        found(table, NOON - timedelta(seconds=1))
    forget(table)


def forget(table):
    forget_changes(table)
    with table.database.writer() as session:
        session.execute(sa.update(VolumeRow).values(
            updated_at=NOON - timedelta(days=1)))


def test_a_lease_that_expires_after_a_search_is_found_by_the_next(table):
    group = leased(table)
    searched(table)
    assert found(table, NOON - timedelta(seconds=1)) == set()
    assert found(table) == {group.uuid}


def test_a_group_that_was_not_released_is_found_again(table):
    group = leased(table)
    searched(table)
    assert found(table) == found(table, LATER) == {group.uuid}
    table.expire(group.uuid, LATER)
    assert found(table, LATER) == set()


def test_a_member_that_is_planned_again_after_the_lease_is_found(table):
    group = leased(table)
    row = table.claim(group.uuid, 'db/node', builders.new_uuid(), NOON)
    table.expire(group.uuid, NOON)
    searched(table)
    assert found(table) == set()
    assert table.change_state(
        row.id, [MemberState.CLAIMED], MemberState.PLANNED, NOON,
        instance_uuid=None)
    assert found(table) == {group.uuid}


def test_a_lease_that_is_shortened_is_found(table):
    group = leased(table, lease_expires_at=LATER)
    searched(table)
    assert found(table) == set()
    assert table.update_group(group.uuid, [GroupStatus.PLANNED],
                              lease_expires_at=NOON - timedelta(days=1))
    assert found(table) == {group.uuid}


def test_a_group_is_found_after_an_update_that_did_not_renew_the_lease(table):
    group = leased(table)
    assert table.tasks.request(group.uuid, NewTask(
        Task.UPDATING, {}, [GroupStatus.PLANNED], 1), NOON)
    searched(table)
    assert found(table) == set()
    assert table.tasks.take(group.uuid, 'engine-1', NOON, NOON)
    assert table.tasks.finish(group.uuid, 'engine-1', {})
    assert found(table) == {group.uuid}


def test_a_volume_whose_create_fails_after_the_lease_is_found(table):
    group = built(table)
    assert table.volumes.write(group.uuid, builders.volumes_of(group, 1))
    row = table.volumes.claim(
        group.uuid, 'data', builders.new_uuid(), NOON).row
    searched(table)
    assert found(table) == set()
    # Cinder refuses the pool.
    assert table.volumes.undo(row, NOON, refused=True)
    assert found(table) == {group.uuid}


@pytest.mark.parametrize('time, shift', [
    # The last complete search was an hour ago.
    ('_complete_at', -expired_groups.COMPLETE_INTERVAL),
    # The database's clock was set back.
    ('_read_at', timedelta(minutes=1))])
def test_a_complete_search_finds_changes_that_were_missed(
        table, time, shift):
    """A transaction took longer than the overlap of two searches."""
    group, search = built(table), ExpiredGroups(table.database)
    for _ in range(2):
        assert search.read(NOON) == ()
    builders.force_state(
        table, table.members(group.uuid)[0].id, MemberState.LOST)
    builders.force_status(table, group.uuid, GroupStatus.BUILDING)
    forget(table)
    assert search.read(NOON) == ()
    setattr(search, time, getattr(search, time) + shift)
    assert [each.uuid for each in search.read(NOON)] == [group.uuid]


def test_the_cost_of_a_search_does_not_depend_on_expired_groups(tmp_path):
    """The database has the same work with any number of groups whose lease
    has expired and whose members have servers."""
    table = PlacementTable(new_table(tmp_path))
    work = []
    for number in 5, 50:
        for _ in range(number):
            built(table)
        searched(table)
        found(table)
        with counted_steps(table) as steps:
            assert found(table, LATER) == set()
        work += steps
    assert work[0] == work[1] > 0
