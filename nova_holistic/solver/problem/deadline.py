# SPDX-License-Identifier: Apache-2.0
"""The time limit that all phases of a solve share."""

from collections.abc import Callable


class OutOfTime(Exception):
    """The time limit has passed. The solver catches this exception; callers
    never receive it."""


class TooLarge(OutOfTime):
    """The problem would need too much memory; it is not built."""


InTime = Callable[[], None]
"""Is called repeatedly, and raises OutOfTime after the time limit."""


def no_limit() -> None:
    """Impose no time limit."""


class Deadline:
    """A time limit, measured by the clock of the caller."""

    def __init__(self, timer: Callable[[], float], limit: float,
                 start: float | None = None):
        """
        :param timer: the clock; returns seconds
        :param limit: seconds from the start to the deadline
        :param start: reading of the clock at the start; None means now
        """
        self._timer = timer
        self._start = timer() if start is None else start
        self.limit = limit

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._timer() - self._start

    def part(self, share: float) -> 'Deadline':
        """A deadline that starts now and ends after this share of the
        remaining time."""
        now = self._timer()
        left = max(0.0, self.limit - (now - self._start))
        return Deadline(self._timer, share * left, now)

    def at_least(self, seconds: float) -> 'Deadline':
        """A deadline that has the same start, and at least these seconds from
        the start to its end."""
        return Deadline(self._timer, max(self.limit, seconds), self._start)

    def extend(self, other: 'Deadline') -> None:
        """Set the end to the end of the other deadline."""
        self.limit = self.elapsed() + other.left()

    def left(self) -> float:
        """The remaining seconds, at least 0."""
        return max(0.0, self.limit - self.elapsed())

    def for_solver(self, overhead: float) -> float:
        """Seconds that a solver may take so that its answer arrives in time.

        :param overhead: seconds for passing the program and reading the answer
        """
        spare = min(0.25, 0.05 * self.limit)
        return max(0.0, self.left() - spare - overhead)

    def check(self) -> None:
        """Require that time is left.

        :raises OutOfTime: if no time is left
        """
        if self.elapsed() >= self.limit:
            raise OutOfTime
