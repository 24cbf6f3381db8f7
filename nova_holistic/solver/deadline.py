# SPDX-License-Identifier: Apache-2.0
"""One time limit, shared by everything a solve does."""

from collections.abc import Callable

_PUT_AWAY = 2e-5
"""Seconds a variable takes after a solver has stopped."""


class OutOfTime(Exception):
    """The limit has passed. Caught inside the solver, never seen outside."""


class Deadline:
    """Seconds left of a limit, by the clock that the caller passes in."""

    def __init__(self, timer: Callable[[], float], limit: float):
        self._timer = timer
        self._start = timer()
        self._limit = limit

    def elapsed(self) -> float:
        return self._timer() - self._start

    def left(self) -> float:
        return max(0.0, self._limit - self.elapsed())

    def for_solver(self, size: int = 0) -> float:
        """Seconds a solver may take so that its answer can still be used.

        :param size: variables, which have to be read and put away afterwards
        """
        spare = min(0.25, 0.05 * self._limit) + _PUT_AWAY * size
        return max(0.0, self.left() - spare)

    def check(self) -> None:
        """:raises OutOfTime: nothing is left"""
        if self.elapsed() >= self._limit:
            raise OutOfTime
