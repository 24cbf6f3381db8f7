# SPDX-License-Identifier: Apache-2.0
"""The parts of a snapshot that must be read again."""

from collections.abc import Callable, Collection
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


class PendingReads(Generic[T]):
    """Items that must be read again. An item remains marked until a read that
    began after the mark has succeeded. Threads may share one object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._marked: dict[T, int] = {}

    def add(self, items: Collection[T]) -> None:
        """Mark items."""
        with self._lock:
            self._number += 1
            self._marked.update(dict.fromkeys(items, self._number))

    def pending(self) -> tuple[int, frozenset[T]]:
        """The number for ``remove``, and all marked items."""
        with self._lock:
            return self._number, frozenset(self._marked)

    def remove(self, number: int) -> None:
        """Remove the marks that existed when ``pending`` returned the number.
        An item that was marked again after that remains marked."""
        with self._lock:
            self._marked = {item: marked for item, marked
                            in self._marked.items() if marked > number}


class RepeatedReads(Generic[T]):
    """Items that are due a number of seconds after they were added last. Each
    is kept once, and only until it is due. Threads may share one object."""

    def __init__(self, seconds: float, timer: Callable[[], float]) -> None:
        """:param timer: returns seconds"""
        self._seconds = seconds
        self._timer = timer
        self._lock = threading.Lock()
        self._due: dict[T, float] = {}

    def add(self, items: Collection[T]) -> None:
        with self._lock:
            self._due.update(
                dict.fromkeys(items, self._timer() + self._seconds))

    def take_due(self) -> frozenset[T]:
        """Remove and return the items that are due."""
        with self._lock:
            now = self._timer()
            due = frozenset(
                item for item, at in self._due.items() if at <= now)
            for item in due:
                del self._due[item]
            return due
