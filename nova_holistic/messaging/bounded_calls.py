# SPDX-License-Identifier: Apache-2.0
"""A time limit for calls whose libraries provide none."""

from collections.abc import Callable
from concurrent import futures
import threading
import time
from typing import TypeVar

T = TypeVar('T')


class BoundedCalls:
    """Runs each call in a thread, and limits the number of threads.

    A call that exceeds its time limit continues in its thread, and its result
    is discarded. It may never end. The threads are daemon threads, and not
    those of an executor of futurist or of the standard library: a process
    waits for those when it exits.
    """

    def __init__(self, most: int):
        """:param most: number of threads"""
        self._free = threading.BoundedSemaphore(most)

    def __call__(self, work: Callable[[], T], seconds: float) -> T:
        """Return the result of the work, or raise its exception.

        :raises TimeoutError: it has not ended after this number of seconds
        """
        until = time.monotonic() + seconds
        if not self._free.acquire(timeout=seconds):
            raise TimeoutError
        outcome: futures.Future[T] = futures.Future()

        def run() -> None:
            try:
                result = work()
            except Exception as error:
                self._free.release()
                outcome.set_exception(error)
            else:
                self._free.release()
                outcome.set_result(result)

        threading.Thread(target=run, daemon=True, name='bounded-call').start()
        return outcome.result(max(0.0, until - time.monotonic()))
