# SPDX-License-Identifier: Apache-2.0
"""One time limit, shared by everything a solve does."""

from collections.abc import Callable


class OutOfTime(Exception):
    """The limit has passed. Caught inside the solver, never seen outside."""


class TooLarge(OutOfTime):
    """More would have to be kept than is sane: it is not even begun."""


def no_limit() -> None:
    """Time never runs out."""


class Deadline:
    """Seconds left of a limit, by the clock that the caller passes in."""

    def __init__(self, timer: Callable[[], float], limit: float,
                 start: float | None = None):
        """
        :param start: by the timer; None for now
        """
        self._timer = timer
        self._start = timer() if start is None else start
        self.limit = limit

    def elapsed(self) -> float:
        return self._timer() - self._start

    def part(self, share: float) -> 'Deadline':
        """A deadline that leaves the rest of what is left for afterwards."""
        now = self._timer()
        left = max(0.0, self.limit - (now - self._start))
        return Deadline(self._timer, share * left, now)

    def extend(self, other: 'Deadline') -> None:
        """Put the end off until that of the other one."""
        self.limit = self.elapsed() + other.left()

    def left(self) -> float:
        return max(0.0, self.limit - self.elapsed())

    def for_solver(self, around: float) -> float:
        """Seconds a solver may take so that its answer can still be used.

        :param around: seconds to hand the program over and read the answer
        """
        spare = min(0.25, 0.05 * self.limit)
        return max(0.0, self.left() - spare - around)

    def check(self) -> None:
        """:raises OutOfTime: nothing is left"""
        if self.elapsed() >= self.limit:
            raise OutOfTime
