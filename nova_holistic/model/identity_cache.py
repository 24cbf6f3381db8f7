# SPDX-License-Identifier: Apache-2.0
"""A cache of values that are computed from immutable objects."""

from collections.abc import Callable
from collections import OrderedDict
import threading
from typing import Generic, TypeVar

K = TypeVar('K')
V = TypeVar('V')


class IdentityCache(Generic[K, V]):
    """A function of one immutable object, computed once for each of the most
    recent objects.

    Objects are distinguished by identity, because comparing equal objects
    takes as long as computing the value. The cache keeps each object alive, so
    that its identity is not reused.
    """

    def __init__(self, work_out: Callable[[K], V], size: int):
        self._work_out = work_out
        self._size = size
        self._known: OrderedDict[int, tuple[K, V]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, of: K) -> V:
        with self._lock:
            if id(of) in self._known:
                self._known.move_to_end(id(of))
                return self._known[id(of)][1]
        value = self._work_out(of)
        with self._lock:
            self._known[id(of)] = (of, value)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return value
