# SPDX-License-Identifier: Apache-2.0
"""A client deletes or releases the revision that it has seen, and nothing
else: the first change of a request requires the revision."""

import pytest
import sqlalchemy as sa

from nova_holistic.messaging import errors
from nova_holistic.table.boot_records import BootRequest
from nova_holistic.table.coordination import boots
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import Task
from nova_holistic.table.schema.models import GroupRow
from tests.functional.engine.test_lifecycle import Meanwhile
from tests.functional.engine.updates import SETTLED, take, update
from tests.functional.engine.world import shop, SMALL
from tests.unit.table import builders


def larger():
    document = shop()['group']
    document['members'].append({'name': 'cache', 'resources': SMALL})
    return document


def claimed_group(world):
    """A group without planned members. The servers of some are still being
    created."""
    group = world.create()
    world.claim(group, 'web')
    for path in 'db/node-0', 'db/node-1':
        world.build(group, path)
    return group


def test_the_holds_of_claims_are_dropped_at_the_required_revision_only(world):
    group = claimed_group(world)
    lifecycle = world.lifecycle_with(Meanwhile(
        world.table, 'members', lambda: update(
            world, group, {**shop()['group'], 'name': 'store'})),
        world.holds)
    with pytest.raises(errors.StaleRevision, match='at revision 2, not 1'):
        lifecycle.delete(group.uuid, 1)
    rows = world.table.members(group.uuid)
    assert [str(row.state) for row in rows] == ['claimed', 'built', 'built']
    assert world.holds.exists(rows[0].hold) is not None
    world.lifecycle.delete(group.uuid, 2)
    assert world.table.get_group(group.uuid) is None
    assert world.vcpus_used() == 2


def test_an_update_in_progress_does_not_end_after_the_deletion_has_begun(
        world):
    group = claimed_group(world)
    assert world.table.tasks.request(group.uuid, NewTask(
        Task.UPDATING, {'document': larger()}, SETTLED), world.now)
    record = take(world, group)
    ended = []

    def end():
        ended.append(world.table.tasks.finish(
            group.uuid, record.engine, {'reasons': ()}))

    world.lifecycle_with(world.table, Meanwhile(
        world.holds, 'drop', end)).delete(group.uuid, 1)
    assert ended == [False]
    assert world.table.get_group(group.uuid) is None


def test_a_boot_is_stopped_at_the_required_revision_only(world):
    group = world.create()
    with world.table.database.writer() as session:
        boots.add(session, group, BootRequest('encrypted', True, 1))
    lifecycle = world.lifecycle_with(Meanwhile(
        world.table, 'boots', lambda: update(world, group, larger())),
        world.holds)
    with pytest.raises(errors.StaleRevision, match='at revision 2, not 1'):
        lifecycle.delete(group.uuid, 1)
    assert not world.table.boots.get(group.uuid).stopping
    assert set(world.states(group).values()) == {'planned'}


@pytest.mark.parametrize('names', [None, ['data-0']])
def test_volumes_are_released_at_the_required_revision_only(world, names):
    """The group has volumes, and no planned member."""
    group = builders.planned(world.table, builders.a_group(
        document={'name': 'db', 'members': [
            {'name': 'data', 'kind': 'volume', 'count': 2, 'size': 10}]}))
    assert world.table.volumes.write(
        group.uuid, builders.volumes_of(group, 2))

    def revise():
        with world.table.database.writer() as session:
            session.execute(sa.update(GroupRow).where(
                GroupRow.uuid == group.uuid).values(revision=2)
                .execution_options(synchronize_session=False))

    lifecycle = world.lifecycle_with(
        Meanwhile(world.table, 'release', revise), world.holds)
    if names is None:
        # Its lease has not begun, so that the volumes are the first change.
        builders.force_status(world.table, group.uuid, 'released')
    with pytest.raises(errors.StaleRevision, match='at revision 2, not 1'):
        lifecycle.release(group.uuid, names, 1)
    states = [str(row.state) for row
              in world.table.volumes.of_group(group.uuid)]
    assert states == ['planned', 'planned']
    world.lifecycle.release(group.uuid, names, 2)
    assert str(world.table.volumes.of_group(
        group.uuid)[0].state) == 'released'
