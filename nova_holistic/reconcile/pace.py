# SPDX-License-Identifier: Apache-2.0
"""Background work that leaves processor time to other work.

The requests of a pass are sent one after the other, and each of them occupies
an engine or Placement. Without pauses, a long series of requests therefore
uses one processor. If the other work of the cloud leaves less than that, plans
wait until the series has ended, and for some time after that.
"""

from collections.abc import Callable, Iterator
import contextlib
import time

SHARE = 0.25
"""Share of the time in which the work may send requests. If Placement responds
more slowly because it has other work, the pauses become longer as well."""
LONGEST_PAUSE = 1.0
"""Maximum duration of a pause in seconds."""


class Pace:
    """Pauses after each piece of work.

    :ivar stopped: whether the process stops; then the work must end
    """

    def __init__(self, wait: Callable[[float], bool] = lambda seconds: False,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param wait: waits for a number of seconds, and returns whether the
            process stops. By default, there are no pauses
        :param timer: returns seconds, to measure durations
        """
        self.stopped = False
        self._wait = wait
        self._timer = timer

    @contextlib.contextmanager
    def piece(self) -> Iterator[None]:
        """One piece of work, and the pause after it."""
        began_at = self._timer()
        yield
        seconds = self._timer() - began_at
        self.stopped = self._wait(
            min(LONGEST_PAUSE, seconds * (1 / SHARE - 1)))
