# SPDX-License-Identifier: Apache-2.0
"""Rows as upper limits on counts that increase by one member at a time."""

from collections.abc import Hashable

from pulp import LpConstraintGE

from nova_holistic.solver.numerics.tolerances import (
    ARITHMETIC, LOWER_LIMIT_REWARD)
from nova_holistic.solver.problem.rows import Atom, Kind, Row


class Limit:
    """A row as an upper limit, with the current sum.

    A lower limit is an upper limit of the negative sum. Of an equation, only
    the upper limit can be satisfied at each step; the lower limit is checked
    at the end.

    :ivar now: current sum of the counts
    :ivar slack: amount by which variables of policies raise the limit, at the
        price
    :ivar price: cost of one unit above the limit
    :ivar atoms: counts in the sum, with their coefficients
    :ivar extensions: variables of policies that raise the limit at no cost
    :ivar outcomes: coefficient of a count to whether one more member violates
        the row, and to the increase of the cost; valid after ``refresh``
    """

    __slots__ = ('now', 'limit', 'slack', 'price', 'atoms', 'extensions',
                 'outcomes', '_free', '_steps')

    def __init__(self, row: Row, sign: int, prices: dict[Atom, float]):
        self.now = 0.0
        self.limit = sign * row.limit
        self.slack = 0.0
        self.price = 0.0
        self.atoms: list[tuple[Atom, float]] = []
        self.extensions: list[tuple[VariableBound, float]] = []
        self.outcomes: dict[float, tuple[bool, float]] = {}
        self._free: list[tuple[Atom, float]] = []
        for atom, coefficient in row.terms:
            weight = sign * coefficient
            if atom.kind is not Kind.FREE:
                self.atoms.append((atom, weight))
                continue
            self._free.append((atom, weight))
            if weight < 0 and prices.get(atom):
                # A variable of the policy raises the limit, at its price.
                self.slack -= weight * atom.upper
                self.price = prices[atom] / -weight
        self._steps = {weight for _, weight in self.atoms}
        if row.sense == LpConstraintGE and not self._free:
            self.price = (
                LOWER_LIMIT_REWARD if row.carried.policy.hard else 0.0)

    def bind(self, bounds: dict[Atom, 'VariableBound'],
             prices: dict[Atom, float]) -> None:
        """Link the limit to the variables that raise it, and to the variable
        that it bounds."""
        for atom, weight in self._free:
            if weight < 0 and not prices.get(atom):
                bound = bounds.setdefault(atom, VariableBound(atom.upper))
                self.extensions.append((bound, -weight))
                bound.extended.append(self)
        if len(self._free) == 1 and self._free[0][1] > 0 and all(
                atom.kind is Kind.COUNT and weight < 0
                for atom, weight in self.atoms):
            atom, weight = self._free[0]
            bound = bounds.setdefault(atom, VariableBound(atom.upper))
            bound.limits.append((self, weight))

    def while_empty(self) -> Hashable:
        """A key that is equal for limits of one count each if their outcomes
        are equal while this count is 0."""
        if len(self.atoms) > 1:
            return self
        return self.limit, self.slack, self.price, *self.extensions

    def refresh(self) -> bool:
        """Compute the outcomes; return whether one of them changed."""
        before, reach = self.outcomes, self.limit + sum(
            weight * (bound.next if self._level else bound.value)
            for bound, weight in self.extensions)
        over, now = max(0.0, self.now - reach), self.now
        self.outcomes = {step: (
            step > 0 and now + step > reach + self.slack + ARITHMETIC,
            self.price * (max(0.0, now + step - reach) - over))
            for step in self._steps}
        return self.outcomes != before

    @property
    def _level(self) -> bool:
        """Whether all counts must be equal: then one count must exceed the
        others temporarily."""
        return self.limit + self.slack < 1


class VariableBound:
    """The largest value that a variable of a policy can currently have.

    Counts can bound the variable from above; an example is a variable that is
    at most the smallest of several counts.

    :ivar limits: rows that contain only such counts and the variable
    :ivar extended: rows whose limit the variable raises
    """

    __slots__ = ('value', 'limits', 'extended', '_upper')

    def __init__(self, upper: int):
        self.value = self._upper = float(upper)
        self.limits: list[tuple[Limit, float]] = []
        self.extended: list[Limit] = []

    @property
    def next(self) -> float:
        """The value after one further step, at most the upper limit."""
        return min(self._upper, self.value + 1)

    def refresh(self) -> bool:
        """Compute the value from the counts; return whether it changed."""
        before = self.value
        self.value = min([self._upper, *(
            (limit.limit - limit.now) / weight
            for limit, weight in self.limits)])
        return self.value != before
