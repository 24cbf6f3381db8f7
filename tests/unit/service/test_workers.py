# SPDX-License-Identifier: Apache-2.0
"""The worker threads of an engine: no task is done twice, and a failed task is
left to other engines."""

from datetime import timedelta
import math
import threading
import time

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.engine import errors
from nova_holistic.inventory import received_work
from nova_holistic.service.work_queues import GroupQueue
from nova_holistic.service.workers import Workers
from nova_holistic.table.records import GroupStatus, Task
from tests.unit.table.builders import a_group, NOON

LONG = 300.0
"""Seconds after which a thread that does nothing is a failure of the test."""


class Planner:
    """Calls the function of the test with each group, and records the calls.

    :ivar now: time of the engine's clock
    """

    def __init__(self):
        self.now = NOON
        self.begun = []
        self.act = lambda uuid: None

    def perform(self, record):
        self.begun.append(record.uuid)
        self.act(record.uuid)


@pytest.fixture
def planner():
    return Planner()


@pytest.fixture
def workers(table, planner):
    """Two worker threads of the engine ``one``."""
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([])
    workers = Workers({'group': GroupQueue(
        conf, table, planner, 'one', lambda: planner.now)}, 2)
    yield workers
    end(workers)


def end(workers):
    """Wait until all started tasks have ended."""
    workers.stop()
    assert workers.wait(time.monotonic() + LONG)


def until_failed(workers):
    """Wait until a task has failed."""
    limit = time.monotonic() + LONG
    while not workers._to_return:
        assert time.monotonic() < limit
        time.sleep(0.01)


def ask(table):
    """A group that waits for an engine."""
    group = a_group(GroupStatus.PLANNING, task=Task.PLANNING, pending={})
    table.create_group(group)
    return group.uuid


@pytest.mark.parametrize('error, attempts', [
    (errors.HoldsNotDropped('Placement does not answer'), 0),
    (ZeroDivisionError(), 1)])
def test_a_failed_task_is_returned_with_the_next_heartbeat(
        workers, planner, table, error, attempts):
    """An unavailable service does not count as an attempt, but each further
    attempt may fail with the same unexpected error."""
    uuid, begun = ask(table), threading.Event()

    def fail(_uuid):
        begun.set()
        raise error

    planner.act = fail
    workers.offer('group', uuid)
    assert begun.wait(LONG)
    until_failed(workers)
    assert table.get_group(uuid).engine == 'one'
    workers.send_heartbeats()
    record = table.get_group(uuid)
    assert (record.engine, record.attempts) == (None, attempts)
    # Another engine has the task when the second heartbeat is sent.
    assert table.tasks.take(uuid, 'two', NOON, NOON)
    workers.send_heartbeats()
    assert table.get_group(uuid).engine == 'two'


def test_an_error_of_an_engine_that_stops_does_not_count(
        workers, planner, table):
    uuid, begun, go_on = ask(table), threading.Event(), threading.Event()

    def fail(_uuid):
        begun.set()
        assert go_on.wait(LONG)
        raise RuntimeError('the interpreter is shut down')

    planner.act = fail
    workers.offer('group', uuid)
    assert begun.wait(LONG)
    workers.stop()
    go_on.set()
    end(workers)
    workers.return_work()
    record = table.get_group(uuid)
    assert (record.engine, record.attempts) == (None, 0)


def test_an_error_before_the_stop_counts(workers, planner, table):
    """The engine stops before its next heartbeat."""
    uuid = ask(table)

    def fail(_uuid):
        raise ZeroDivisionError

    planner.act = fail
    workers.offer('group', uuid)
    until_failed(workers)
    end(workers)
    workers.return_work()
    record = table.get_group(uuid)
    assert (record.engine, record.attempts) == (None, 1)


class Waiting:
    """Two tasks occupy the threads, and a third one waits for them.

    :ivar task: UUID of the third task, which is not offered yet
    :ivar known_since: since when the third task knows that it waits
    """

    def __init__(self, workers, planner, table):
        self.task, self.known_since = ask(table), None
        self._workers, self._both = workers, threading.Barrier(3)
        self._go_on, self._done = threading.Event(), threading.Event()
        planner.act = self._act
        for _ in range(2):
            workers.offer('group', ask(table))
        self._both.wait(LONG)

    def _act(self, uuid):
        if uuid == self.task:
            self.known_since = received_work.received_at()
            self._done.set()
        else:
            self._both.wait(LONG)
            assert self._go_on.wait(LONG)

    def end(self):
        """The first two tasks end, and then the third one."""
        self._go_on.set()
        assert self._done.wait(LONG)
        end(self._workers)


def test_a_task_knows_since_when_it_has_waited_for_a_thread(
        workers, planner, table):
    waiting = Waiting(workers, planner, table)
    before = time.monotonic()
    workers.offer('group', waiting.task)
    offered = time.monotonic()
    waiting.end()
    assert before <= waiting.known_since <= offered
    assert received_work.received_at() == math.inf


def test_a_task_that_is_offered_again_while_it_waits_is_a_new_request(
        workers, planner, table):
    waiting = Waiting(workers, planner, table)
    workers.offer('group', waiting.task)
    before = time.monotonic()
    workers.offer('group', waiting.task)
    waiting.end()
    assert waiting.known_since >= before
    assert planner.begun.count(waiting.task) == 1


def test_a_task_of_another_engine_is_not_taken(
        workers, planner, table):
    uuid, begun = ask(table), threading.Event()

    def lose(_uuid):
        begun.set()
        raise errors.OwnershipLost('it took too long')

    planner.act = lose
    workers.offer('group', uuid)
    assert begun.wait(LONG)
    end(workers)
    workers.send_heartbeats()
    record = table.get_group(uuid)
    assert (record.engine, record.attempts) == ('one', 1)


def test_a_task_that_is_offered_during_its_execution_is_not_repeated(
        workers, planner, table):
    """The engine could not send a heartbeat, so the table lets any engine take
    the task. The other thread is offered the task, ignores it, and continues
    with the next one."""
    first, second = ask(table), ask(table)
    begun, done, end_first = (threading.Event() for _ in range(3))

    def act(uuid):
        if uuid == first:
            begun.set()
            assert end_first.wait(LONG)
        else:
            done.set()

    planner.act = act
    workers.offer('group', first)
    assert begun.wait(LONG)
    planner.now += timedelta(hours=1)
    workers.offer('group', first)
    workers.offer('group', second)
    assert done.wait(LONG)
    end_first.set()
    end(workers)
    assert planner.begun == [first, second]


def test_a_waiting_task_does_not_begin_after_the_stop(
        workers, planner, table):
    """Another engine takes the task from the table."""
    busy, waiting = [ask(table), ask(table)], ask(table)
    begun, go_on = threading.Semaphore(0), threading.Event()

    def act(_uuid):
        begun.release()
        assert go_on.wait(LONG)

    planner.act = act
    for uuid in busy:
        workers.offer('group', uuid)
        assert begun.acquire(timeout=LONG)
    workers.offer('group', waiting)
    workers.stop()
    assert not workers.wait(time.monotonic())
    go_on.set()
    end(workers)
    assert planner.begun == busy
    assert table.get_group(waiting).engine is None


class CountedQueue(GroupQueue):
    """:ivar polls: number of searches for waiting records"""

    polls = 0

    def waiting(self, limit):
        self.polls += 1
        return super().waiting(limit)


@pytest.fixture
def queue(table, planner):
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([])
    planner.act = lambda uuid: table.tasks.finish(uuid, 'one', {
        'status': GroupStatus.PLANNED})
    return CountedQueue(conf, table, planner, 'one', lambda: planner.now)


def until_all_have_begun(planner, uuids):
    limit = time.monotonic() + LONG
    while not set(uuids) <= set(planner.begun):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_task_of_a_message_causes_no_search_of_its_queue(
        queue, planner, table):
    workers = Workers({'group': queue}, 2)
    for _ in range(5):
        uuid = ask(table)
        workers.offer('group', uuid)
        until_all_have_begun(planner, [uuid])
    end(workers)
    assert queue.polls == 0


def test_tasks_without_messages_are_all_done_after_one_search(
        queue, planner, table):
    """The search begins four of eleven tasks. The workers continue without
    another periodic search."""
    uuids = [ask(table) for _ in range(11)]
    workers = Workers({'group': queue}, 2)
    workers.pick_up()
    until_all_have_begun(planner, uuids)
    end(workers)
    assert sorted(planner.begun) == sorted(uuids)


def test_planned_groups_get_alternates_without_a_message(
        queue, planner, table):
    """The alternates of the earlier groups are found although another group
    was already waiting when their tasks ended."""
    class Alternates(CountedQueue):
        at_once = 1
        followed_by = frozenset()
        done = ()

        def waiting(self, limit):
            self.polls += 1
            return [uuid for uuid in planner.begun if uuid not in self.done]

        def take(self, uuid):
            self.done = (*self.done, uuid)
            return table.get_group(uuid)

        def do(self, record):
            pass

    alternates = Alternates(queue._conf, table, planner, 'one',
                            lambda: planner.now)
    workers = Workers({'group': queue, 'alternates': alternates}, 1)
    uuids = [ask(table) for _ in range(3)]
    for uuid in uuids:
        workers.offer('group', uuid)
    limit = time.monotonic() + LONG
    while set(uuids) - set(alternates.done):
        assert time.monotonic() < limit
        time.sleep(0.01)
    end(workers)
    assert queue.polls == 0
