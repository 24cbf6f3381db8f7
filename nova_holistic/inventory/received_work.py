# SPDX-License-Identifier: Apache-2.0
"""When an engine received the work that a thread carries out.

A plan uses the state of the cloud at the time of its request, or a later one.
If work waits for a thread, it can therefore use what was read for other work
in the meantime.
"""

from collections.abc import Iterator
import contextlib
import contextvars
import math

_received_at: contextvars.ContextVar[float] = contextvars.ContextVar(
    'received_at', default=math.inf)


@contextlib.contextmanager
def received(moment: float) -> Iterator[None]:
    """In this block, the thread carries out work that was received then.

    :param moment: by the clock of ``time.monotonic``
    """
    token = _received_at.set(moment)
    try:
        yield
    finally:
        _received_at.reset(token)


def received_at() -> float:
    """When the work of this thread was received; infinite outside of
    ``received``, so that nothing was read after it."""
    return _received_at.get()
