# SPDX-License-Identifier: Apache-2.0
"""Timers and a time limit for ``solve`` that do not depend on the machine."""

import itertools

ENOUGH = 600.0
"""A time limit in seconds that a test does not reach on a busy machine."""


def standing():
    """Return 0, like a stopped timer: no time limit is ever reached."""
    return 0.0


def advancing(step):
    """Return a timer that advances by the step each time it is read."""
    return itertools.count(0, step).__next__


class Stopping:
    """A timer that is stopped for a number of readings. Then it shows a later
    time, which exceeds every time limit by default.

    :ivar left: number of readings until then; negative after that
    :ivar late: number of readings after that
    """

    def __init__(self, readings, then=1e9):
        self.left = readings
        self.late = 0
        self._then = then

    def __call__(self):
        self.left -= 1
        self.late += self.left < 0
        return 0.0 if self.left >= 0 else self._then
