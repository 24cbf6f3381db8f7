# SPDX-License-Identifier: Apache-2.0
"""What was worked out of an object is remembered while it is asked for."""

from collections.abc import Callable
from collections import OrderedDict
import threading
from typing import Generic, TypeVar

K = TypeVar('K')
V = TypeVar('V')


class Remembered(Generic[K, V]):
    """A function of one immutable object, worked out once for each of the
    last few.

    Objects are told apart by identity: equal ones cost as much to compare as
    to work out. Each is kept alive here, so its identity stays its own.
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
