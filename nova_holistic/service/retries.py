# SPDX-License-Identifier: Apache-2.0
"""When an engine repeats work that has failed.

The intervals double from the first failure on, so that the delay after the end
of a fault is not longer than the fault itself. They are kept in memory: a
restarted engine begins with the first interval again.
"""

from collections.abc import Callable, Sequence
import threading
import time

import tenacity

from nova_holistic.engine.errors import WorkDelayed
from nova_holistic.service.failure_log import FailureLog

FIRST_INTERVAL = 1.0
"""Seconds between the first failure and the next attempt."""
LONGEST_INTERVAL = 300.0
"""Maximum interval in seconds between two attempts."""
MEMORY = 2 * LONGEST_INTERVAL
"""Seconds after the time of the next attempt after which a job that was not
tried again is forgotten, because another engine has done it."""

_INTERVAL = tenacity.wait_exponential(
    multiplier=FIRST_INTERVAL, max=LONGEST_INTERVAL)

Job = tuple[str, str]
"""Name of a work queue, and the UUID of one of its records."""


class _Failing:
    """A job that has failed in its last attempt.

    :ivar next_at: time of the next attempt on the timer
    """

    def __init__(self, job: Job, timer: Callable[[], float]):
        self.log = FailureLog(' '.join(job), timer)
        self.next_at = timer()
        self._state = tenacity.RetryCallState(
            tenacity.Retrying(), None, (), {})

    def failed(self, error: Exception, now: float) -> bool:
        first = self._state.attempt_number == 1
        self.next_at = now if isinstance(error, WorkDelayed) else (
            now + _INTERVAL(self._state))
        self._state.attempt_number += 1
        self.log.failed(error)
        return first


class Retries:
    """The failing jobs of one engine. Threads may share an instance, but each
    job is done by one thread at a time."""

    def __init__(self, timer: Callable[[], float] = time.monotonic):
        """:param timer: returns seconds"""
        self._timer = timer
        self._failing: dict[Job, _Failing] = {}
        self._lock = threading.Lock()

    def failed(self, job: Job, error: Exception) -> bool:
        """Log a failure, and delay the next attempt, unless the table already
        delays it.

        :returns: whether it is the first failure since the last success
        """
        now = self._timer()
        with self._lock:
            for each in [each for each, failing in self._failing.items()
                         if failing.next_at < now - MEMORY]:
                del self._failing[each]
            failing = self._failing.setdefault(
                job, _Failing(job, self._timer))
        return failing.failed(error, now)

    def succeeded(self, job: Job) -> None:
        """The job has succeeded, and is not delayed any longer."""
        with self._lock:
            failing = self._failing.pop(job, None)
        if failing is not None:
            failing.log.succeeded()

    def delayed(self, kind: str) -> frozenset[str]:
        """UUIDs of the records of a work queue that are not due yet."""
        now = self._timer()
        with self._lock:
            return frozenset(
                uuid for (each, uuid), failing in self._failing.items()
                if each == kind and failing.next_at > now)

    def due(self, kind: str, waiting: Sequence[str]) -> Sequence[str]:
        """The records that are due, in their order."""
        delayed = self.delayed(kind)
        return [uuid for uuid in waiting if uuid not in delayed]
