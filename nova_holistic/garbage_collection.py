# SPDX-License-Identifier: Apache-2.0
"""Fewer garbage collections while a function creates many objects.

With Python's default thresholds, the collector examines all objects of the
process again and again, although most of the new objects are kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import gc
import threading

_lock = threading.Lock()
_inside = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def few_collections(objects: int) -> Iterator[None]:
    """Raise the first threshold of the garbage collector while any thread is
    inside the block, and restore it after the last one leaves.

    If the collector is disabled, it stays disabled.

    :param objects: number of new objects between two collections
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
        _inside += 1
        current = gc.get_threshold()
        if current[0]:
            gc.set_threshold(max(current[0], objects), *current[1:])
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
