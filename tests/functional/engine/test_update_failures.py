# SPDX-License-Identifier: Apache-2.0
"""A failed update leaves the group unchanged, or another engine finishes
it."""

import contextlib
import itertools

import pytest

from nova_holistic.engine import errors
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.errors import HoldsError
from nova_holistic.table.errors import TableError
from tests.functional.engine.process_death import (
    CallBudget, KillableProxy, ProcessKilled)
from tests.functional.engine.updates import (
    ask, assert_settled, fill, held, LARGE, Meanwhile, revised, rows, Silent,
    take, update)
from tests.functional.engine.world import SMALL


def test_a_placement_failure_refuses_the_update(world):
    group = world.create()
    silent = world.planner_with(world.table, Silent(world.holds, 'put'))
    refused = update(world, group, revised(web=LARGE), silent)
    assert 'timed out' in refused.reasons[0]['message']
    assert_settled(world, group, 1)
    world.assert_agreement()


@pytest.mark.parametrize('calls', [('put', 'drop'), ('drop',)])
def test_the_next_engine_drops_holds_that_could_not_be_dropped(
        world, calls):
    group = world.create()
    silent = world.planner_with(world.table, Silent(world.holds, *calls))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.HoldsNotDropped):
        silent.perform(take(world, group))
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    assert held(world, group) == 3
    assert world.vcpus_used() == 4


def test_giving_up_an_update_keeps_the_previous_plan(world):
    group = world.create()
    ask(world, group, revised(web=LARGE))
    silent = world.planner_with(
        world.table, Silent(world.holds, 'drop', 'put'))
    with pytest.raises(errors.HoldsNotDropped):
        silent.perform(take(world, group))
    world.planner.give_up(take(world, group), 'tried too often')
    record = assert_settled(world, group, 1)
    assert record.reasons[0]['message'] == 'tried too often'
    world.assert_agreement()


def test_a_replaced_engine_changes_nothing(world):
    group = world.create()
    other = []
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: other.append(take(world, group))))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.OwnershipLost):
        planner.perform(take(world, group))
    world.assert_agreement()
    world.planner.perform(other[0])
    assert_settled(world, group, 2)
    assert world.vcpus_used() == 4


def test_an_exchange_without_an_answer_is_undone(world):
    group = world.create()
    fill(world)
    before, used = rows(world, group), world.vcpus_used()

    class Unanswered:
        def exchange(self, emptied, filled, *owner):
            world.holds.exchange(emptied, filled, *owner)
            if emptied[0] in {m.hold for m in before.values()}:
                raise HoldsError('timed out')

        def __getattr__(self, name):
            return getattr(world.holds, name)

    refused = update(
        world, group, revised() | {'members': [
            {'name': 'front', 'resources': SMALL}]},
        world.planner_with(world.table, Unanswered()))
    assert 'timed out' in refused.reasons[0]['message']
    assert_settled(world, group, 1)
    assert {path: (m.id, m.place, m.hold, m.held) for path, m
            in rows(world, group).items()} == {
                path: (m.id, m.place, m.hold, m.held)
                for path, m in before.items()}
    assert set(world.states(group).values()) == {'planned'}
    assert held(world, group) == 3
    assert world.vcpus_used() == used


def test_a_revision_written_without_an_answer_is_kept(world):
    """The database has written the revision, but the response was lost."""
    group = world.create()
    lost = []

    class Unanswered:
        def __init__(self, thing):
            self._thing = thing

        def __getattr__(self, name):
            found = getattr(self._thing, name)
            return Unanswered(found) if name == 'database' else found

        @contextlib.contextmanager
        def writer(self):
            with self._thing.writer() as session:
                yield session
            if lost:
                raise TableError(lost.pop())

    planner = world.planner_with(Unanswered(world.table), Meanwhile(
        world.holds, 'put', lambda: lost.append('gone away')))
    ask(world, group, revised() | {'members': [
        {'name': 'web', 'resources': SMALL},
        {'name': 'cache', 'resources': SMALL}]})
    with pytest.raises(TableError):
        planner.perform(take(world, group))
    assert not lost
    world.planner.perform(take(world, group))
    assert_settled(world, group, 2)
    world.assert_agreement()


SCENES = {
    # The new holds are written before the old ones are dropped. One member
    # moves, one is removed and one is added.
    'beside': (lambda world: None, lambda: revised(
        nodes=1, web=LARGE) | {'groups': [
            *revised(nodes=1)['groups'],
            {'name': 'more', 'members': [
                {'name': 'new', 'resources': SMALL}]}]}),
    # One member takes the capacity of another.
    'instead': (fill, lambda: revised(nodes=2) | {'members': [
        {'name': 'front', 'resources': SMALL}]}),
    # The update is impossible.
    'refused': (lambda world: None, lambda: revised(nodes=3)),
}


@pytest.mark.parametrize('scene', SCENES)
def test_an_interrupted_update_is_finished_by_another_engine(world, scene):
    prepare, document = SCENES[scene]
    group = world.create()
    prepare(world)
    other_servers = world.vcpus_used() - 3
    world.lifecycle.delete(group.uuid)
    for calls in itertools.count():
        group = world.create()
        life = CallBudget(calls)
        planner = world.planner_with(
            KillableProxy(life, world.table),
            HoldClient(KillableProxy(life, world.placement.adapter)))
        ask(world, group, document())
        record = take(world, group)
        try:
            planner.perform(record)
        except ProcessKilled:
            pass
        except TableError:
            pytest.fail('a dead engine does not complain')
        record = take(world, group)
        if record is not None:
            world.planner.perform(record)
        assert_settled(world, group, 1 if scene == 'refused' else 2)
        assert set(world.states(group).values()) == {'planned'}
        assert held(world, group) == len(rows(world, group))
        wanted = sum(m.member.requirements.resources['VCPU']
                     for m in rows(world, group).values())
        assert world.vcpus_used() == other_servers + wanted
        world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == other_servers
        if not life.over:
            assert calls > 5
            return
