# SPDX-License-Identifier: Apache-2.0
"""The parts of a snapshot that must be read again."""

from collections.abc import Collection
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


class PendingReads(Generic[T]):
    """Marks things that must be read again. A thing remains marked until a
    reading that began after the mark has ended. A failed reading therefore
    loses no mark. Threads may share one object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._marked: dict[T, int] = {}

    def add(self, things: Collection[T]) -> None:
        """Mark things."""
        with self._lock:
            self._number += 1
            self._marked.update(dict.fromkeys(things, self._number))

    def pending(self) -> tuple[int, frozenset[T]]:
        """The number for ``remove``, and all marked things."""
        with self._lock:
            return self._number, frozenset(self._marked)

    def remove(self, number: int) -> None:
        """Remove the marks that existed when ``pending`` returned the number.
        A thing that was marked again after that remains marked."""
        with self._lock:
            self._marked = {thing: marked for thing, marked
                            in self._marked.items() if marked > number}
