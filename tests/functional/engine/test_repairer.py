# SPDX-License-Identifier: Apache-2.0
"""A repair continues wherever the previous one was interrupted."""

import pytest

from nova_holistic.reconcile.instances import MoveView
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.table.coordination.tasks import NewTask
from tests.functional.engine.world import SMALL

pytestmark = pytest.mark.leaves('servers that move past Placement')
TRIO = {'name': 'trio', 'policies': [{'type': 'anti-affinity'}], 'members': [
    {'name': 'n', 'count': 3, 'resources': SMALL}]}


class Killed(BaseException):
    """The engine is killed here."""


@pytest.fixture
def group(world):
    """A group whose three servers share a host, although the policy requires
    different hosts. Its repair is requested."""
    group = world.create(TRIO)
    for number in range(3):
        row = world.build(group, f'n-{number}')
        world.instances.set(row.instance_uuid, 'ACTIVE', 'a1')
    world.reconciler.reconcile()
    assert world.table.get_group(group.uuid).status == 'degraded'
    assert world.table.tasks.request(
        group.uuid, NewTask('repairing', {}, ['degraded']), world.clock())
    return group


@pytest.fixture
def migrated(world, monkeypatch):
    """Servers and hosts of the requested live migrations."""
    calls = []
    live_migrate = world.instances.live_migrate

    def noting(instance, host):
        calls.append((instance, host))
        live_migrate(instance, host)

    monkeypatch.setattr(world.instances, 'live_migrate', noting)
    return calls


def taken(world, group, engine):
    world.wait(world.conf.engine.stale_after)
    return world.table.tasks.take(
        group.uuid, engine, world.clock(), world.clock())


def assert_repaired(world, group):
    found = world.table.get_group(group.uuid)
    assert (found.status, found.task, found.reasons, found.violations) == (
        'complete', None, (), ())
    rows = world.table.members(group.uuid)
    assert len({row.place.host for row in rows}) == 3
    for row in rows:
        view = world.instances.get(row.instance_uuid)
        assert view.host == row.place.host


def test_each_server_moves_once(world, group, migrated):
    world.planner.perform(taken(world, group, 'engine-1'))
    assert len(migrated) == 2
    assert_repaired(world, group)


def test_another_engine_carries_out_the_remaining_moves(
        world, group, migrated, monkeypatch):
    first = taken(world, group, 'engine-1')
    live_migrate = world.instances.live_migrate

    def die(instance, host):
        live_migrate(instance, host)
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(world.instances, 'live_migrate', die)
        with pytest.raises(Killed):
            world.repairer.run(first)
    assert world.table.get_group(group.uuid).task == 'repairing'
    world.planner.perform(taken(world, group, 'engine-2'))
    assert len(migrated) == len({instance for instance, _ in migrated}) == 2
    assert_repaired(world, group)


def test_a_migration_that_has_begun_is_waited_for(world, group, migrated):
    moving = world.table.members(group.uuid)[0].instance_uuid
    world.instances.set(moving, 'MIGRATING', 'a1')
    world.instances.moves[moving] = MoveView('a1', 'b1')

    def end(seconds):
        world.instances.moves.clear()
        world.instances.set(moving, 'ACTIVE', 'b1')

    world.planner.connect(world.positions.refresh, repairing=Repairer(
        world.components(), end).run)
    world.planner.perform(taken(world, group, 'engine-1'))
    assert len(migrated) == 1 and moving != migrated[0][0]
    assert_repaired(world, group)


def test_an_engine_that_has_lost_the_task_moves_nothing(
        world, group, migrated):
    late = taken(world, group, 'engine-1')
    taken(world, group, 'engine-2')
    with pytest.raises(Exception, match='took too long and was abandoned'):
        world.planner.perform(late)
    assert migrated == []


def test_a_resize_that_waits_for_its_confirmation_stops_the_repair(
        world, group, migrated):
    moving = world.table.members(group.uuid)[0].instance_uuid
    world.instances.set(moving, 'VERIFY_RESIZE', 'b1')
    world.instances.moves[moving] = MoveView('a1', 'b1')
    world.planner.perform(taken(world, group, 'engine-1'))
    found = world.table.get_group(group.uuid)
    assert (found.status, found.task) == ('degraded', None)
    (reason,) = found.reasons
    assert (reason['at'], migrated) == ('n-0', [])
    assert 'confirm or revert' in reason['message']
