# SPDX-License-Identifier: Apache-2.0
"""Functions that are called periodically, each in its own thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import threading
import time

import futurist
from futurist import periodics

from nova_holistic.service.failure_log import FailureLog


@dataclass(frozen=True, slots=True)
class PeriodicCall:
    """
    :ivar call: takes no arguments. It returns False if it had nothing to do,
        and so cannot tell whether an outage is over.
    :ivar spacing: seconds between the end of a call and the next call; 0
        means that the function is never called
    """

    call: Callable[[], object]
    spacing: float


class PeriodicCalls:
    """Each function is called immediately, and then periodically.

    Each function has its own thread, so none waits for another. After an
    error, it is called again at the next interval: see FailureLog.
    """

    def __init__(self, calls: Mapping[str, PeriodicCall]):
        """:param calls: functions by the names that the log has for them"""
        works = [(_periodic(name, periodic_call), (), {})
                 for name, periodic_call in calls.items()
                 if periodic_call.spacing > 0]
        self._thread: threading.Thread | None = None
        if not works:
            return
        self._threads = futurist.ThreadPoolExecutor(len(works))
        self._worker = periodics.PeriodicWorker(
            works, schedule_strategy='last_finished',
            executor_factory=periodics.ExistingExecutor(self._threads))
        self._thread = threading.Thread(
            target=self._serve, daemon=True, name='periodic-calls')

    def start(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def stop(self) -> None:
        """Begin no further call."""
        if self._thread is not None:
            self._worker.stop()

    def wait(self, deadline: float) -> bool:
        """Whether the calls in progress have ended at the deadline, after
        ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        if self._thread is None or self._thread.ident is None:
            return True
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return not self._thread.is_alive()

    def _serve(self) -> None:
        # Returns when the calls in progress have ended, after ``stop``.
        self._worker.start()
        self._threads.shutdown(wait=False)


def _periodic(name: str, periodic_call: PeriodicCall) -> Callable[[], None]:
    failures = FailureLog(name)

    def call() -> None:
        try:
            worked = periodic_call.call() is not False
        except Exception as error:
            failures.failed(error)
        else:
            if worked:
                failures.succeeded()

    call.__qualname__ = name
    return periodics.periodic(
        periodic_call.spacing, run_immediately=True)(call)
