# SPDX-License-Identifier: Apache-2.0
"""Dual bounds of the objective, each with the plans for which it is valid."""

from fractions import Fraction


class DualBounds:
    """Bounds, each valid for plans whose preferences cost at most a limit.

    A bound with a higher limit is also valid for every lower limit, but not
    vice versa.
    """

    def __init__(self) -> None:
        self._known: list[tuple[float, float]] = []

    def add(self, bound: float, limit: float) -> None:
        """Add a lower bound for the plans whose preferences cost at most the
        limit."""
        self._known.append((bound, limit))

    def at(self, limit: float | Fraction) -> float:
        """The best bound for plans whose preferences cost at most the limit;
        0 if no bound is valid for all of them."""
        return max((bound for bound, known in self._known if limit <= known),
                   default=0.0)
