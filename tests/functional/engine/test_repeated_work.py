# SPDX-License-Identifier: Apache-2.0
"""Work that fails is repeated at growing intervals until the fault ends. The
group states why, and nothing is lost."""

import logging
import time

import pytest
import sqlalchemy as sa

from nova_holistic.engine.alternates_finder import AlternatesFinder
from nova_holistic.engine import errors
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.service.work_queues import AlternatesQueue, GroupQueue
from nova_holistic.service.workers import Workers
from nova_holistic.table.history.pages import Page
from nova_holistic.table.schema.models import GroupRow
from tests.functional.engine.updates import (
    ask, assert_settled, held, LARGE, revised, Silent, take)

LONG = 60.0
"""Seconds after which a thread that does nothing is a failure of the test."""


class Engine:
    """An engine that polls every ten seconds by its clock.

    :ivar attempts: times at which it has begun to work
    """

    def __init__(self, world, queue, planner, kind='group'):
        self.now = 0.0
        self.attempts = []
        self._kind = kind
        self._world = world
        found = queue(world.conf, world.table, planner, 'engine', world.clock)
        do = found.do

        def counted(record):
            self.attempts.append(self.now)
            do(record)

        found.do = counted
        self._workers = Workers({kind: found}, 1, lambda: self.now)

    def run(self, seconds):
        until = self.now + seconds
        while self.now < until:
            self._workers.send_heartbeats()
            self._workers.pick_up()
            limit = time.monotonic() + LONG
            while self._workers._pending or self._workers._at_work:
                assert time.monotonic() < limit
                time.sleep(0.001)
            self.now += 10
            self._world.wait(10)

    def restart(self, planner, queue):
        self.close()
        return Engine(self._world, queue, planner, self._kind)

    def close(self):
        self._workers.return_work()
        self._workers.stop()
        assert self._workers.wait(time.monotonic() + LONG)


def delays(world, group):
    """Texts of the reasons of the events about failed work."""
    return [event.reasons[0]['message'] for event in world.table.history.read(
        Page(group.uuid, 100, kind='work.delayed'))]


def warnings(caplog):
    return [record for record in caplog.records
            if record.levelno >= logging.WARNING
            and record.name.startswith('nova_holistic')]


@pytest.mark.parametrize('given_up', [False, True])
def test_an_update_whose_holds_cannot_be_dropped(world, caplog, given_up):
    """The engine has given the update up, or has finished it otherwise."""
    group = world.create()
    calls = ('put', 'drop') if given_up else ('drop',)
    silent = world.planner_with(world.table, Silent(world.holds, *calls))
    ask(world, group, revised(web=LARGE))
    if given_up:
        with pytest.raises(errors.HoldsNotDropped):
            silent.perform(take(world, group))
        with world.table.database.writer() as session:
            session.execute(sa.update(GroupRow).values(
                attempts=world.conf.engine.attempts, engine=None)
                .execution_options(synchronize_session=False))
    engine = Engine(world, GroupQueue, silent)
    engine.run(3600)
    assert 10 < len(engine.attempts) < 25
    assert max(after - before for before, after in zip(
        engine.attempts, engine.attempts[1:])) <= 310
    assert 3 < len(warnings(caplog)) < 15
    record = world.table.get_group(group.uuid)
    assert record.task == 'updating'
    assert 'timed out' in record.reasons[0]['message']
    assert 'timed out' not in record.reasons[0]['public']
    assert len(delays(world, group)) == 1
    # A restarted engine writes no second event.
    engine = engine.restart(silent, GroupQueue)
    engine.run(30)
    assert len(delays(world, group)) == 1
    engine = engine.restart(world.planner, GroupQueue)
    engine.run(10)
    record = assert_settled(world, group, 1 if given_up else 2)
    assert len(record.reasons) == given_up
    assert held(world, group) == 3
    assert world.vcpus_used() == (3 if given_up else 4)
    engine.close()


def test_alternates_that_cannot_be_found(world, caplog, monkeypatch):
    def fails(self, group_uuid, engine):
        raise InvalidDocument('policies[0]', 'no such policy is installed')

    with monkeypatch.context() as patch:
        patch.setattr(AlternatesFinder, 'find', fails)
        group = world.create()
        engine = Engine(world, AlternatesQueue, world.planner, 'alternates')
        engine.run(3600)
    assert 10 < len(engine.attempts) < 25
    assert 3 < len(warnings(caplog)) < 15
    (message,) = delays(world, group)
    assert 'no such policy is installed' in message
    engine.run(310)
    assert all(world.table.alternates(
        [row.id for row in world.table.members(group.uuid)]).values())
    engine.close()
