# SPDX-License-Identifier: Apache-2.0
"""Periodic tasks. Only one engine at a time runs each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
import threading
import time

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.table.jobs import Jobs

LOG = logging.getLogger(__name__)

LOOKS = 4
"""How often an engine checks, within the interval of a task, whether the task
is due and no other engine runs it."""


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """
    :ivar interval: seconds between two rounds; 0 is never
    """

    do: Callable[[], object]
    interval: float


class PeriodicTasks:
    """A thread for each, so that none waits for another's round; a claim in
    the table keeps other engines from the same."""

    def __init__(self, tasks: Mapping[str, PeriodicTask], jobs: Jobs,
                 engine: str, stale_after: float,
                 clock: Callable[[], datetime]):
        """
        :param tasks: periodic tasks by their names in the table
        :param stale_after: seconds without a sign of life after which a round
            that another engine has begun counts as broken off
        :param clock: gives naive UTC
        """
        self._jobs = jobs
        self._engine = engine
        self._stale_after = timedelta(seconds=stale_after)
        self._clock = clock
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._at: set[str] = set()
        self._threads = [
            threading.Thread(target=self._serve, args=(name, task),
                             daemon=True, name=f'periodic-{name}')
            for name, task in tasks.items() if task.interval > 0]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Begin no further round."""
        self._stopping.set()

    def wait(self, deadline: float) -> bool:
        """Whether the rounds under way have ended by then, after ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def beat(self) -> None:
        """Give a sign of life for the rounds under way.

        :raises TableError: the table does not answer
        """
        with self._lock:
            at = set(self._at)
        if at:
            self._jobs.keep(at, self._engine, self._clock())

    def _serve(self, name: str, task: PeriodicTask) -> None:
        while not self._stopping.is_set():
            self._try(name, task)
            self._stopping.wait(task.interval / LOOKS)

    def _try(self, name: str, task: PeriodicTask) -> None:
        try:
            now = self._clock()
            if self._jobs.take(
                    name, self._engine, now,
                    due_before=now - timedelta(seconds=task.interval),
                    stale_before=now - self._stale_after):
                self._round(name, task)
        except exceptions.HolisticError as error:
            LOG.warning('%s is tried again later: %s', name, error)
        except Exception:
            LOG.exception('%s is tried again later', name)

    def _round(self, name: str, task: PeriodicTask) -> None:
        with self._lock:
            self._at.add(name)
        try:
            task.do()
        finally:
            with self._lock:
                self._at.discard(name)
            # One that failed is not repeated at once either.
            self._jobs.finish(name, self._engine, self._clock())
