# SPDX-License-Identifier: Apache-2.0
"""Dual bounds of the objective, each with the plans for which it holds."""

from fractions import Fraction


class DualBounds:
    """Each bound holds for the plans whose preferences cost at most a limit.

    A bound for more plans is a bound for fewer, and never the other way.
    """

    def __init__(self) -> None:
        self._known: list[tuple[float, float]] = []

    def add(self, bound: float, limit: float) -> None:
        """No plan whose preferences cost at most the limit costs less."""
        self._known.append((bound, limit))

    def at(self, limit: float | Fraction) -> float:
        """The best bound for plans whose preferences cost at most that; 0
        where nothing is known of all of them."""
        return max((bound for bound, known in self._known if limit <= known),
                   default=0.0)
