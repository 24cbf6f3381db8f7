# SPDX-License-Identifier: Apache-2.0
"""Limits a solve to one processor, because the solver itself uses one.

The matrix products of a solve are too small for several threads. Without this
limit, the threads of BLAS wait actively and slow down concurrent solves.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import functools
import threading

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_limit = None


@contextmanager
def one_processor() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process while any thread is inside
    the block, and restore the previous number after the last one leaves."""
    global _inside, _limit
    with _lock:
        if not _inside:
            _limit = _blas().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _limit.restore_original_limits()


@functools.cache
def _blas() -> ThreadpoolController:
    # One search is enough, because numpy has already loaded its BLAS.
    return ThreadpoolController().select(user_api='blas')
