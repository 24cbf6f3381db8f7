# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a command soon, even while a solver's own code runs.

Python handles a signal only between its own instructions, and a solver may run
until its time limit before it returns to them.
"""

from collections.abc import Callable, Iterator
import contextlib
import os
import signal
import threading

SIGINT = 130
_GRACE = 0.5
"""Seconds for the usual KeyboardInterrupt."""


@contextlib.contextmanager
def handle_promptly(tidy: Callable[[], None]) -> Iterator[None]:
    """Within this context, an interrupt that Python cannot handle in time ends
    the process.

    Call it in the main thread.

    :param tidy: called before the process ends, in its own thread
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    left = threading.Event()
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    watcher = threading.Thread(
        target=_watch, args=(read, left, tidy), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        left.set()
        os.close(write)
        watcher.join()
        os.close(read)


def _watch(read: int, left: threading.Event,
           tidy: Callable[[], None]) -> None:
    """Wait for signals until the other end is closed."""
    while caught := os.read(read, 1):
        if caught[0] == signal.SIGINT and not left.wait(_GRACE):
            tidy()
            os._exit(SIGINT)
