# SPDX-License-Identifier: Apache-2.0
"""A time limit for calls that have none of their own."""

from collections.abc import Callable
import threading
import time
from typing import Any, TypeVar

T = TypeVar('T')


class BoundedCalls:
    """Runs each call in a thread. A call that takes too long goes on in its
    thread, and its result is ignored. The number of threads is limited."""

    def __init__(self, most: int):
        self._free = threading.BoundedSemaphore(most)

    def __call__(self, work: Callable[[], T], seconds: float) -> T:
        """What the work returns or raises.

        :raises TimeoutError: it has not ended by then
        """
        until = time.monotonic() + seconds
        if not self._free.acquire(timeout=seconds):
            raise TimeoutError
        outcome: dict[str, Any] = {}

        def run() -> None:
            try:
                outcome['result'] = work()
            except Exception as error:
                outcome['error'] = error
            finally:
                self._free.release()

        thread = threading.Thread(target=run, daemon=True, name='patience')
        thread.start()
        thread.join(max(0.0, until - time.monotonic()))
        if 'error' in outcome:
            raise outcome['error']
        if 'result' not in outcome:
            raise TimeoutError
        return outcome['result']
