# SPDX-License-Identifier: Apache-2.0
"""Engines that share a table do not take each other's tasks."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
import logging
import threading

from oslo_utils import timeutils
import pytest

from nova_holistic.table.records import GroupStatus
from tests.services.background_processes import WAIT_SECONDS, wait_for
from tests.services.engine.world import ANN, WatchedPlanner


@pytest.fixture
def performing(monkeypatch):
    """Call a function before an engine performs each group."""
    def performing(before):
        perform = WatchedPlanner.perform

        def performed(planner, record):
            before(planner)
            perform(planner, record)

        monkeypatch.setattr(WatchedPlanner, 'perform', performed)
    return performing


def test_two_engines_share_the_groups_and_plan_each_once(world, performing):
    both = threading.Barrier(2)

    def meet(planner):
        """Wait until both engines have a group."""
        if not planner.performed:
            both.wait(WAIT_SECONDS)

    performing(meet)
    groups = [world.ask() for _ in range(20)]
    for _ in range(2):
        world.start(workers=1)
    assert world.statuses(groups) == {'planned'}
    performed = [uuid for planner in world.planners
                 for uuid in planner.performed]
    assert sorted(performed) == sorted(groups)
    assert all(planner.performed for planner in world.planners)
    world.assert_agreement()
    assert world.vcpus_used() == 40


def test_a_stopped_engine_leaves_waiting_groups_to_others(
        world, performing, caplog):
    begun, end = threading.Event(), threading.Event()

    def stay(planner):
        begun.set()
        assert end.wait(WAIT_SECONDS)

    performing(stay)
    caplog.set_level(logging.INFO, 'nova_holistic')
    first = world.start(workers=1, shutdown_timeout=WAIT_SECONDS)
    groups = [world.ask() for _ in range(10)]
    for group in groups:
        world.client().plan_group(ANN, group)
    assert begun.wait(WAIT_SECONDS)
    with ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(first.stop)
        wait_for('the stop', lambda: ' stops' in caplog.text)
        end.set()
        assert stopped.result()
    left = [g for g in groups if world.table.get_group(g).task]
    assert left
    assert all(world.table.get_group(g).engine is None for g in left)
    assert all(world.table.get_group(g).attempts == 0 for g in left)
    world.start()
    assert world.statuses(groups) == {'planned'}
    world.assert_agreement()


def test_a_group_is_in_error_after_too_many_engines_died(world):
    group = world.ask()
    before = timeutils.utcnow() - timedelta(hours=1)
    for number in range(3):
        assert world.table.tasks.take(group, f'dead-{number}', before, before)
        before += timedelta(seconds=1)
    world.start(attempts=3)
    settled = world.settled(group)
    assert settled.status == GroupStatus.ERROR
    assert '3 attempts' in settled.reasons[0]['message']
    world.assert_agreement()


@pytest.mark.parametrize('hours', [3, -3])
def test_a_wrong_engine_clock_does_not_end_a_lease(world, hours):
    world.start(skew=timedelta(hours=hours))
    group = world.ask()
    planned = world.settled(group)
    left = planned.lease_expires_at - timeutils.utcnow()
    assert timedelta(minutes=30) < left < timedelta(minutes=90)
    passed = world.ask(pending={'lease': 1})
    wait_for('the end of a lease', lambda: (
        world.table.get_group(passed).status == GroupStatus.RELEASED))
    assert world.table.get_group(group).status == GroupStatus.PLANNED


def test_a_wrong_engine_clock_takes_no_task_of_another_engine(world):
    for hours in (0, 3, -3):
        world.start(skew=timedelta(hours=hours))
    groups = [world.ask() for _ in range(12)]
    assert world.statuses(groups) == {'planned'}
    performed = [uuid for planner in world.planners
                 for uuid in planner.performed]
    assert sorted(performed) == sorted(groups)
    world.assert_agreement()
