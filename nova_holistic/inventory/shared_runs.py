# SPDX-License-Identifier: Apache-2.0
"""One run of a piece of work for all callers at the same time."""

from collections.abc import Callable
from concurrent.futures import Future
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


class SharedRuns(Generic[T]):
    """Gives every caller the result of a run that began after the call.

    Only one run takes place at a time. All callers during a run wait for the
    next run and share its result. The next run sees data that a caller wrote
    before its call; the current run may have missed it.
    """

    def __init__(self, work: Callable[[], T]):
        self._work = work
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._next: Future[T] | None = None

    def __call__(self) -> T:
        """The result of the work; its error is raised."""
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
        # Other exceptions end only this caller. The next waiting caller starts
        # the work again.
