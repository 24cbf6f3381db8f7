# SPDX-License-Identifier: Apache-2.0
"""Finds the groups on which engines still work, for all waiting requests.

The more groups wait for an engine, the more requests wait, and the longer each
of them waits. If each request read the table itself, the API would use the
most processor time when the engines need it.
"""

from collections.abc import Callable, Collection
import math
import threading

FRESH = 0.025
"""Seconds for which requests share the result of a read. A process therefore
sends at most 40 reads per second for groups that were read before, for any
number of requests."""
KEPT = 5.0
"""Seconds after the last question about a group for which it is read. Waiting
requests ask more often (``waiting.LONGEST_PAUSE``)."""


class PendingGroups:
    """Threads may share an object."""

    def __init__(self, read: Callable[[Collection[str]], Collection[str]],
                 timer: Callable[[], float]):
        """
        :param read: returns those of the given groups that exist and have a
            task
        :param timer: returns seconds since an arbitrary time
        """
        self._read = read
        self._timer = timer
        self._lock = threading.Lock()
        self._asked_at: dict[str, float] = {}
        self._found: dict[str, bool] = {}
        self._read_at = -math.inf

    def __call__(self, group_uuid: str) -> bool:
        """Whether the group exists and has a task, at most ``FRESH`` seconds
        ago.

        :raises TableError: the table does not respond
        """
        with self._lock:
            now = self._timer()
            self._asked_at[group_uuid] = now
            if group_uuid not in self._found or now - self._read_at > FRESH:
                self._read_again(now)
            return self._found[group_uuid]

    def _read_again(self, now: float) -> None:
        asked = [uuid for uuid, at in self._asked_at.items()
                 if now - at <= KEPT]
        pending = self._read(asked)
        self._read_at = now
        self._found = {uuid: uuid in pending for uuid in asked}
        # A request does not ask again after the end of the task.
        self._asked_at = {uuid: self._asked_at[uuid] for uuid in asked
                          if self._found[uuid]}
