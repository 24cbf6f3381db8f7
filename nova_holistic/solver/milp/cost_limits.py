# SPDX-License-Identifier: Apache-2.0
"""Rows of whole numbers of any size, and limits on what preferences cost."""

import abc
from collections.abc import Sequence
from fractions import Fraction

from pulp import LpAffineExpression, LpConstraint, LpProblem, LpVariable

from nova_holistic.solver.milp.preference_rows import (
    CostRow, FAR_APART, has_fractions, Penalty, tiers)
from nova_holistic.solver.problem.tolerances import DIGIT_BASE

Terms = list[tuple[LpVariable, int]]


class CostLimits(abc.ABC):
    """The part of a program that is about the cost of preferences.

    :ivar penalties: the preferences
    :ivar preferences: their cost, in units of the largest weight
    :ivar preference_unit: that weight
    """

    problem: LpProblem
    penalties: Sequence[Penalty]
    preferences: LpAffineExpression
    preference_unit: float

    @abc.abstractmethod
    def require(self, constraint: LpConstraint | bool) -> None:
        """Add a row to the program."""

    @abc.abstractmethod
    def _variable(self, upper: int) -> LpVariable:
        """A new whole variable from 0 to the limit."""

    def add_up_preferences(self) -> None:
        """Write down their cost; what is minimised may be rounded."""
        self.preference_unit = max((
            each.carried.policy.weight for each in self.penalties),
            default=1.0) or 1.0
        self.preferences = LpAffineExpression()
        for each in self.penalties:
            self.preferences += each.violations * (
                each.carried.policy.weight / self.preference_unit)

    def tiers(self) -> tuple[tuple[Penalty, ...], ...]:
        """The preferences by weight, the heaviest first."""
        return tiers(self.penalties)

    def minimise_preferences(self) -> None:
        self.problem.objective = self.preferences

    def minimise_tier(self, tier: Sequence[Penalty]) -> CostRow:
        """Minimise what these preferences cost, and nothing else."""
        row = CostRow.of(tier)
        self.problem.objective = row.expression()
        return row

    def limit_tier(self, row: CostRow, cost: Fraction) -> None:
        """From here on these preferences cost no more than that."""
        self.require(LpAffineExpression([
            (variable, steps / row.largest) for variable, steps in row.terms])
            <= row.scaled_limit(row.most(cost)))

    def limit_preferences(self, cost: Fraction) -> None:
        """From here on all preferences cost no more than that, exactly."""
        parts = self.tiers()
        if not parts:
            return
        # No preference costs less than nothing.
        first = CostRow.of(parts[0])
        if first.is_plain:
            self.limit_tier(first, cost)
        if len(parts) > 1 or not first.is_plain:
            row = CostRow.of([self._whole(each) for each in self.penalties])
            self.whole_row([*row.terms], row.most(cost), None)

    def whole_row(self, terms: Terms, limit: int,
                  used: LpVariable | None) -> None:
        """Sum of terms <= limit; where the place is not used, <= 0.

        Whole variables times whole numbers. Numbers that are too far apart
        for a solver's tolerances are split into digits; what the lower digits
        exceed their limit by is carried to the higher ones.
        """
        scale = max((abs(amount) for _, amount in terms), default=1)
        if scale > FAR_APART:
            high, low = divmod(limit, DIGIT_BASE)
            most = sum(amount % DIGIT_BASE * v.upBound for v, amount in terms)
            carry = self._variable(int(most) // DIGIT_BASE + 1)
            self._row([*((v, amount % DIGIT_BASE) for v, amount in terms
                         if amount % DIGIT_BASE), (carry, -DIGIT_BASE)], low,
                      used)
            self.whole_row([*((v, amount // DIGIT_BASE) for v, amount in terms
                              if amount // DIGIT_BASE), (carry, 1)], high,
                           used)
        else:
            self._row([(v, amount / scale) for v, amount in terms],
                      limit / scale, used)

    def _row(self, row: list[tuple[LpVariable, float]], limit: float,
             used: LpVariable | None) -> None:
        if used is None:
            self.require(LpAffineExpression(row) <= limit)
        else:
            # Nothing at all where the host is not used: a tighter relaxation.
            row.append((used, -limit))
            self.require(LpAffineExpression(row) <= 0)

    def _whole(self, penalty: Penalty) -> Penalty:
        """The same preference with a whole number of violations."""
        if not has_fractions(penalty):
            return penalty
        row = CostRow.of([penalty])
        # Violations are whole numbers: so are these steps.
        least = sum(min(0, steps * variable.upBound)
                    for variable, steps in row.terms)
        most = sum(max(0, steps * variable.upBound)
                   for variable, steps in row.terms)
        number = self._variable(int(most - least))
        self.require(number + int(least) >= LpAffineExpression(
            [*row.terms]))
        return Penalty(penalty.carried, LpAffineExpression(
            [(number, float(row.step / penalty.weight))], constant=float((
                int(least) + row.constant) * row.step / penalty.weight)))
