# SPDX-License-Identifier: Apache-2.0
"""A solve keeps to one processor, as the solver itself does: BLAS would have
threads of its own wait busily for products too small to be shared, and take
from whoever plans beside it."""

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
    """BLAS uses no other thread in the whole process until the last one who
    has entered leaves; then as many as before the first one."""
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
    # Looked for once: numpy has loaded its own by then.
    return ThreadpoolController().select(user_api='blas')
