# SPDX-License-Identifier: Apache-2.0
"""Timers for ``solve``: what they show does not depend on the machine."""

import itertools


def standing():
    """A timer that stands still: no time limit is ever reached."""
    return 0.0


def advancing(step):
    """A timer that advances by the step each time it is read."""
    return itertools.count(0, step).__next__


class Stopping:
    """A timer that stands still for some readings; from then on there is no
    time left.

    :ivar left: readings until then
    :ivar late: readings after that
    """

    def __init__(self, readings):
        self.left = readings
        self.late = 0

    def __call__(self):
        self.left -= 1
        self.late += self.left < 0
        return 0.0 if self.left >= 0 else 1e9
