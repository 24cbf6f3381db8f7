# SPDX-License-Identifier: Apache-2.0
"""One run of a piece of work for all callers at the same time."""

from collections.abc import Callable
from concurrent.futures import Future
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


class SharedRuns(Generic[T]):
    """Gives every caller the outcome of a run begun after the call.

    There is one run at a time. A caller during a run waits for the next run,
    together with all other callers: data that one of them has just written are
    visible to the next run, and may have been missed by the current one.
    """

    def __init__(self, work: Callable[[], T]):
        self._work = work
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._next: Future[T] | None = None

    def __call__(self) -> T:
        """What the work returns or raises."""
        return self._wait(self._join())

    def _join(self) -> 'Future[T]':
        with self._lock:
            if self._next is None:
                self._next = Future()
            return self._next

    def _wait(self, outcome: 'Future[T]') -> T:
        with self._turn:
            if not outcome.done():
                self._run(outcome)
        return outcome.result()

    def _run(self, outcome: 'Future[T]') -> None:
        with self._lock:
            # Later callers wait for the next run.
            if self._next is outcome:
                self._next = None
        try:
            outcome.set_result(self._work())
        except Exception as error:
            outcome.set_exception(error)
        # Anything else ends this caller alone: another takes the run over.
