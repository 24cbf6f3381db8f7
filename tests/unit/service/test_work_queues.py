# SPDX-License-Identifier: Apache-2.0
"""The number of attempts of a task after failures of engines, and the time
between them."""

from datetime import timedelta

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.engine.plan_answers import failed_answer
from nova_holistic.model.plan import Reason
from nova_holistic.service.work_queues import GroupQueue, PlanQueue
from nova_holistic.table.records import (
    GroupStatus, PlanRecord, PlanStatus, Task)
from tests.unit.table.builders import a_group, new_uuid, NOON

ATTEMPTS = 2
STALE_AFTER = 60


class Planner:
    """Records the tasks that it gets.

    :ivar performed: attempts of each task
    :ivar given_up: reasons of the tasks that were given up
    """

    def __init__(self):
        self.performed = []
        self.given_up = []

    def perform(self, record):
        self.performed.append(record.attempts)

    def give_up(self, record, why):
        self.given_up.append(why)

    def answer(self, record, why_not):
        if why_not is None:
            self.performed.append(record.attempts)
        else:
            self.given_up.append(why_not)
        return failed_answer([Reason('', why_not or 'no plan')])


class Engines:
    """Several engines, one after the other, each of which is killed by the
    task."""

    def __init__(self, kind, table):
        self.now = NOON
        self.planner = Planner()
        self._kind = kind
        self._table = table
        self._conf = cfg.ConfigOpts()
        options.register_opts(self._conf)
        self._conf([])
        self._conf.set_override('attempts', ATTEMPTS, 'engine')
        self._conf.set_override('stale_after', STALE_AFTER, 'engine')

    def engine(self, name):
        return self._kind(self._conf, self._table, self.planner, name,
                          lambda: self.now)


def ask_for_group(table):
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    return group.uuid


def ask_for_plan(table):
    plan = PlanRecord(new_uuid(), 'blue', 'ann', 'shop', PlanStatus.PLANNING,
                      {'name': 'shop'}, 'spread', created_at=NOON,
                      updated_at=NOON)
    table.plans.create(plan)
    return plan.uuid


KINDS = pytest.mark.parametrize('kind, ask', [
    (GroupQueue, ask_for_group), (PlanQueue, ask_for_plan)])


@KINDS
def test_a_task_that_killed_several_engines_is_given_up(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(ATTEMPTS):
        # The engine is killed before it has done anything.
        assert engines.engine(f'dead-{number}').take(uuid)
        engines.now += timedelta(seconds=STALE_AFTER + 1)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == []
    (why,) = engines.planner.given_up
    assert f'{ATTEMPTS} attempts' in why


@KINDS
def test_the_maximum_number_of_engines_try(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(ATTEMPTS - 1):
        assert engines.engine(f'dead-{number}').take(uuid)
        engines.now += timedelta(seconds=STALE_AFTER + 1)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == [ATTEMPTS]
    assert engines.planner.given_up == []


@KINDS
def test_a_returned_task_does_not_count_as_tried(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(2 * ATTEMPTS):
        stopped = engines.engine(f'stopped-{number}')
        assert stopped.take(uuid)
        stopped.return_work(uuid)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == [1]


@KINDS
def test_a_task_that_fails_in_each_attempt_is_given_up(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    engine = engines.engine('one')
    for _ in range(ATTEMPTS):
        assert engine.take(uuid)
        engine.return_work(uuid, counted=True)
    engine.do(engine.take(uuid))
    assert engines.planner.performed == []
    (why,) = engines.planner.given_up
    assert f'{ATTEMPTS} attempts' in why and 'unexpected error' in why


@KINDS
def test_another_engine_takes_over_after_a_long_time_without_heartbeats(
        table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    first, second = engines.engine('first'), engines.engine('second')
    assert first.take(uuid)
    engines.now += timedelta(seconds=STALE_AFTER)
    assert second.waiting(10) == () and second.take(uuid) is None
    first.write_heartbeat([uuid])
    engines.now += timedelta(seconds=STALE_AFTER)
    assert second.waiting(10) == () and second.take(uuid) is None
    engines.now += timedelta(seconds=1)
    assert second.waiting(10) == (uuid,)
    assert second.take(uuid).engine == 'second'
    # A heartbeat of the first engine arrives too late.
    first.write_heartbeat([uuid])
    assert engines.engine('third').take(uuid) is None
