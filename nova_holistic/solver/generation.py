# SPDX-License-Identifier: Apache-2.0
"""A bound from whole patterns of members on hosts, and the patterns.

Column generation as of Dantzig and Wolfe, with one subproblem a host: the
prices of members that the master program settles for are asked on all hosts,
and patterns that gain become its columns. Each time, the prices prove a bound
(Lagrange's): what all members are worth, less what hosts gain.
"""

import math

import numpy as np

from nova_holistic.model.objective import Outlay
from nova_holistic.solver.alike import Alike
from nova_holistic.solver.cells import Cells
from nova_holistic.solver.columns import constant
from nova_holistic.solver.deadline import Deadline
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver.master import Master
from nova_holistic.solver.merged import Merged
from nova_holistic.solver.pricing import Gains, Pricing

_ROUNDS = 30
_RAISES = 12
_RAISE = 0.02
"""By which prices that leave members without a host are raised."""

_PENALTY = 1.15
"""Of a member without a pattern, of its price at first."""

_STIFFER = 3.0
_STIFFEST = 100.0
_NEARLY = 5e-4
"""Share of the bound that is not worth another round."""

_BETWEEN = 0.5
"""How near the prices asked are to the best ones so far, not the latest."""

_TIME = 0.5
"""Share of the time limit after which no round begins."""


class Generation:
    """Patterns for the members of a relaxation.

    :ivar bound: no placement costs less, members that stay included
    :ivar floor: the same, without members that stay
    :ivar prices: [kind], of a member, about
    :ivar numbers: of members of each kind
    """

    def __init__(self, kinds: Kinds, cells: Cells, outlay: Outlay,
                 merged: Merged, deadline: Deadline):
        self.alike = Alike.of(kinds, merged.columns, outlay)
        self.pricing = Pricing(self.alike)
        self.numbers = kinds.numbers
        self._constant = constant(kinds, outlay)
        known = max(0.0, merged.bound - self._constant)
        # Plans whose preferences cost more may cost less.
        self.floor = known if merged.limit == float('inf') else 0.0
        unit = known / len(kinds.members) or 1.0
        self.master = Master(kinds, cells, self.alike, unit)
        self.deadline = deadline
        found = merged.duals[:len(kinds.kinds)]
        # Cells without hosts may have rows here that bins did without.
        self._duals = merged.duals if (
            len(merged.duals) == self.master.rows) else np.concatenate((
                found, np.zeros(self.master.rows - len(found))))
        self.prices = np.maximum(found, 0.1 * max(unit, found.max()))

    @property
    def bound(self) -> float:
        return self.floor + self._constant

    def run(self, integral: bool) -> bool:
        """Whether there are patterns for everyone.

        :param integral: whether costs are whole numbers
        """
        self._start()
        penalty = _PENALTY
        self.master.penalise(penalty * self.prices)
        near = _BETWEEN
        for _ in range(_ROUNDS):
            if self.late() or not self.master.solve(self.deadline.left()):
                return False
            if self._settled(integral):
                if self.master.short < 1e-6:
                    return True
                if penalty > _STIFFEST:
                    return False
                penalty *= _STIFFER
                self.master.penalise(penalty * self.prices)
                continue
            fresh, better = self._ask(
                near * self._duals + (1 - near) * self.master.duals)
            if not (fresh or better or near):
                break
            # Prices in between that lead to nothing are left out.
            near = _BETWEEN if fresh or better else 0.0
        return self.master.short < 1e-6

    def late(self) -> bool:
        return self.deadline.elapsed() > _TIME * self.deadline.limit

    def _settled(self, integral: bool) -> bool:
        value = self.master.value
        if integral and self.master.short < 1e-6:
            stay = self._constant
            return math.ceil(self.bound - 1e-6) >= value + stay
        return value - self.floor <= _NEARLY * value

    def _start(self) -> None:
        """The merged hosts' prices, raised while that raises the bound."""
        first = self._duals
        for number in range(_RAISES):
            duals = (1 + _RAISE * number) * first
            gains, proved = self._gains(duals)
            self._learn(gains)
            better = self._proves(duals, gains, proved)
            some = np.flatnonzero(gains.known)
            sold = self.alike.numbers[some] @ (
                gains.known[some] + self.alike.cost(
                    some, gains.patterns[some]))
            # Hosts that take more than there is are paid too much.
            if sold >= proved or (number and not better):
                return

    def _ask(self, duals: np.ndarray) -> tuple[int, bool]:
        """How many new patterns there are, and whether the bound rose."""
        gains, proved = self._gains(duals)
        better = self._proves(duals, gains, proved)
        return self._learn(gains), better

    def _gains(self, duals: np.ndarray) -> tuple[Gains, float]:
        prices, proved = self.master.prices(duals)
        return self.pricing(prices), proved

    def _learn(self, gains: Gains) -> int:
        some = np.flatnonzero(gains.known)
        return self.master.add(some, gains.patterns[some])

    def _proves(self, duals: np.ndarray, gains: Gains,
                proved: float) -> bool:
        """Whether the bound rises."""
        found = proved - float(self.alike.numbers @ gains.most)
        better = found > self.floor
        if better:
            self.floor = found
            self._duals = duals
        return better
