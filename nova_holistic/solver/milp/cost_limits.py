# SPDX-License-Identifier: Apache-2.0
"""Integer rows with coefficients of any size, and limits on preferences."""

import abc
from collections.abc import Sequence
from fractions import Fraction
import math

from pulp import LpAffineExpression, LpConstraint, LpProblem, LpVariable

from nova_holistic.solver.milp.preference_rows import (
    CostRow, FAR_APART, has_fractions, Penalty, tiers)
from nova_holistic.solver.numerics.tolerances import DIGIT_BASE

Terms = list[tuple[LpVariable, int]]


class CostLimits(abc.ABC):
    """The part of a program that models the cost of preferences.

    :ivar penalties: the preferences
    :ivar preferences: their cost, in units of the largest weight
    :ivar preference_unit: the largest weight
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
        """A new integer variable from 0 to the limit."""

    def add_up_preferences(self) -> None:
        """Build the expression of the cost of preferences. Its coefficients
        may be rounded."""
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
        """Make the cost of preferences the objective of the program."""
        self.problem.objective = self.preferences

    def minimise_tier(self, tier: Sequence[Penalty]) -> CostRow:
        """Make the cost of these preferences the objective of the program;
        return the row of this cost."""
        row = CostRow.of(tier)
        self.problem.objective = row.expression()
        return row

    def limit_tier(self, row: CostRow, cost: Fraction) -> None:
        """Limit the cost of the preferences that the row contains."""
        self.require(LpAffineExpression([
            (variable, steps / row.largest) for variable, steps in row.terms])
            <= row.scaled_limit(row.most(cost)))

    def limit_preferences(self, cost: Fraction) -> None:
        """Limit the cost of all preferences, exactly."""
        parts = self.tiers()
        if not parts:
            return
        # No preference has a negative cost.
        first = CostRow.of(parts[0])
        if first.is_plain:
            self.limit_tier(first, cost)
        if len(parts) > 1 or not first.is_plain:
            row = CostRow.of([self._whole(each) for each in self.penalties])
            self.whole_row([*row.terms], row.most(cost), None)

    def whole_row(self, terms: Terms, limit: int,
                  used: LpVariable | None) -> None:
        """Require sum of terms <= limit, or <= 0 if the host is not used.

        Variables and coefficients are integers. If the coefficients are too
        far apart for the tolerances of solvers, they are split into digits.
        The row of the higher digits includes the carry of the lower digits.

        :param used: binary variable of the host; None for other rows
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
            # The limit of an unused host is 0, which tightens the relaxation.
            row.append((used, -limit))
            self.require(LpAffineExpression(row) <= 0)

    def _whole(self, penalty: Penalty) -> Penalty:
        """The same preference with an integer number of violations."""
        if not has_fractions(penalty):
            return penalty
        row = CostRow.of([penalty])
        # The number of steps is an integer, but the limits of real variables
        # need not be integers.
        least = math.floor(sum(min(0, steps * variable.upBound)
                               for variable, steps in row.terms))
        most = math.ceil(sum(max(0, steps * variable.upBound)
                             for variable, steps in row.terms))
        number = self._variable(most - least)
        self.require(number + least >= LpAffineExpression([*row.terms]))
        return Penalty(penalty.carried, LpAffineExpression(
            [(number, float(row.step / penalty.weight))], constant=float((
                least + row.constant) * row.step / penalty.weight)))
