# SPDX-License-Identifier: Apache-2.0
"""Fewer garbage collections during a solve.

A solve creates many objects, keeps them, and creates few cycles. With Python's
default thresholds, the collector examined all objects of the process again and
again, which took half of the time for encoding policies.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import gc
import threading

from nova_holistic.solver.limits.current import problem as limits

_lock = threading.Lock()
_inside = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def few_collections() -> Iterator[None]:
    """Raise the thresholds of the garbage collector while any thread is inside
    the block, and restore them after the last one leaves."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
            if _before[0]:
                gc.set_threshold(
                    max(_before[0], limits().collected_objects), *_before[1:])
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
