# SPDX-License-Identifier: Apache-2.0
"""The parts of a snapshot that have to be read again."""

from collections.abc import Collection
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


class PendingReads(Generic[T]):
    """A thing stays marked until a reading that began after the mark has
    ended. So a reading that fails loses no mark. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._marked: dict[T, int] = {}

    def add(self, things: Collection[T]) -> None:
        with self._lock:
            self._number += 1
            self._marked.update(dict.fromkeys(things, self._number))

    def pending(self) -> tuple[int, frozenset[T]]:
        """All that is marked, and the number to give to ``remove``."""
        with self._lock:
            return self._number, frozenset(self._marked)

    def remove(self, number: int) -> None:
        """Remove the marks that were there when ``pending`` returned the
        number. A thing that was marked again since stays marked."""
        with self._lock:
            self._marked = {thing: marked for thing, marked
                            in self._marked.items() if marked > number}
