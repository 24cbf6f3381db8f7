# SPDX-License-Identifier: Apache-2.0
"""How often, and after how long, engines try what others began."""

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
    """Notes what it is asked for.

    :ivar performed: attempts of each task that is to be done
    :ivar given_up: why each other one is not
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
    """Engines that work one after another, of which each dies of it."""

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
def test_what_several_engines_died_over_is_given_up(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(ATTEMPTS):
        # It dies before it has done anything.
        assert engines.engine(f'dead-{number}').take(uuid)
        engines.now += timedelta(seconds=STALE_AFTER + 1)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == []
    (why,) = engines.planner.given_up
    assert f'{ATTEMPTS} engines' in why


@KINDS
def test_as_many_engines_as_may_try_do_try(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(ATTEMPTS - 1):
        assert engines.engine(f'dead-{number}').take(uuid)
        engines.now += timedelta(seconds=STALE_AFTER + 1)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == [ATTEMPTS]
    assert engines.planner.given_up == []


@KINDS
def test_what_is_handed_back_was_not_tried(table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    for number in range(2 * ATTEMPTS):
        stopped = engines.engine(f'stopped-{number}')
        assert stopped.take(uuid)
        stopped.hand_back(uuid)
    last = engines.engine('last')
    last.do(last.take(uuid))
    assert engines.planner.performed == [1]


@KINDS
def test_an_engine_is_silent_for_long_before_another_takes_over(
        table, kind, ask):
    engines, uuid = Engines(kind, table), ask(table)
    first, second = engines.engine('first'), engines.engine('second')
    assert first.take(uuid)
    engines.now += timedelta(seconds=STALE_AFTER)
    assert second.waiting(10) == () and second.take(uuid) is None
    first.keep([uuid])
    engines.now += timedelta(seconds=STALE_AFTER)
    assert second.waiting(10) == () and second.take(uuid) is None
    engines.now += timedelta(seconds=1)
    assert second.waiting(10) == (uuid,)
    assert second.take(uuid).engine == 'second'
    # A sign of life of the first one comes too late.
    first.keep([uuid])
    assert engines.engine('third').take(uuid) is None
