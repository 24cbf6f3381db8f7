# SPDX-License-Identifier: Apache-2.0
"""Periodic tasks. Only one engine at a time runs each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
import functools
import threading

from nova_holistic import crash_points
from nova_holistic.service.periodic_calls import PeriodicCall, PeriodicCalls
from nova_holistic.table.coordination.jobs import Jobs

LOOKS = 4
"""How often an engine checks, within the interval of a task, whether the task
is due and no other engine runs it."""


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """
    :ivar interval: seconds between two rounds; 0 means never
    """

    do: Callable[[], object]
    interval: float


class PeriodicTasks:
    """A row of the table for each task keeps other engines from running the
    same task at the same time."""

    def __init__(self, tasks: Mapping[str, PeriodicTask], jobs: Jobs,
                 engine: str, stale_after: float,
                 clock: Callable[[], datetime]):
        """
        :param tasks: periodic tasks by their names in the table
        :param stale_after: if another engine writes no heartbeat for this
            number of seconds, the round that it began counts as interrupted
        :param clock: returns naive UTC
        """
        self._jobs = jobs
        self._engine = engine
        self._stale_after = timedelta(seconds=stale_after)
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[str] = set()
        self._tasks = tasks
        self._calls = PeriodicCalls({
            name: PeriodicCall(functools.partial(self.attempt, name),
                               task.interval / LOOKS)
            for name, task in tasks.items()})

    def start(self) -> None:
        self._calls.start()

    def stop(self) -> None:
        """Begin no further round."""
        self._calls.stop()

    def wait(self, deadline: float) -> bool:
        """Whether the rounds in progress have ended at the deadline, after
        ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        return self._calls.wait(deadline)

    def send_heartbeats(self) -> None:
        """Write a heartbeat for the rounds in progress.

        :raises TableError: the table does not answer
        """
        with self._lock:
            running = set(self._running)
        if running:
            self._jobs.write_heartbeat(running, self._engine, self._clock())

    def attempt(self, name: str) -> bool:
        """Run a task if it is due and no other engine runs it.

        :returns: whether it was run
        :raises TableError: the table does not answer
        """
        now, task = self._clock(), self._tasks[name]
        due = self._jobs.take(
            name, self._engine, now,
            due_before=now - timedelta(seconds=task.interval),
            stale_before=now - self._stale_after)
        if due:
            crash_points.reached('round.taken')
            self._round(name, task)
        return due

    def _round(self, name: str, task: PeriodicTask) -> None:
        with self._lock:
            self._running.add(name)
        try:
            task.do()
        finally:
            with self._lock:
                self._running.discard(name)
            crash_points.reached('round.done')
            # A failed round is also not repeated immediately.
            self._jobs.finish(name, self._engine, self._clock())
