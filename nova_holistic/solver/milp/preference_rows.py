# SPDX-License-Identifier: Apache-2.0
"""The exact cost of preferences in a program, for weights of any size.

A solver distinguishes numbers of one row only if they are of similar size.
Therefore weights are minimised in tiers, the heaviest first. A limit on the
cost is an integer row whose unit is the common step of all weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
import math

import pulp
from pulp import LpAffineExpression, LpVariable

from nova_holistic.solver.numerics.exact_weights import common_step, exact
from nova_holistic.solver.numerics.tolerances import FAR_APART, FEASIBILITY
from nova_holistic.solver.problem.rows import ScopedPolicy


@dataclass(frozen=True, slots=True)
class Penalty:
    """One preference in a program.

    :ivar violations: number of violations, as an expression of the program
    """

    carried: ScopedPolicy
    violations: LpAffineExpression

    @property
    def weight(self) -> Fraction:
        """The exact weight of the preference."""
        return exact(self.carried.policy.weight)

    def amounts(self) -> Iterator[tuple[LpVariable, Fraction]]:
        """Yield each variable and the cost of one unit of it."""
        for variable, coefficient in self.violations.items():
            if coefficient:
                yield variable, self.weight * exact(coefficient)

    def constant(self) -> Fraction:
        """The cost that does not depend on variables."""
        return self.weight * exact(self.violations.constant)


@dataclass(frozen=True, slots=True)
class CostRow:
    """Cost of some preferences: a sum of variables, each times an integer
    number of steps.

    :ivar step: the cost of one step
    :ivar terms: variables, and the cost of one unit of each, in steps
    :ivar constant: fixed cost, in steps
    :ivar largest: the largest number of steps in the terms
    """

    step: Fraction
    terms: tuple[tuple[LpVariable, int], ...]
    constant: Fraction
    largest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'largest', max(
            (abs(steps) for _, steps in self.terms), default=1))

    @classmethod
    def of(cls, penalties: Sequence[Penalty]) -> 'CostRow':
        """The row of the total cost of these preferences.

        The sum of its terms is an integer in every plan, also if some of its
        variables are real numbers: their preferences have an integer number of
        violations.
        """
        amounts: dict[LpVariable, Fraction] = {}
        others: list[Fraction] = []
        for each in penalties:
            for variable, amount in each.amounts():
                amounts[variable] = amounts.get(variable, 0) + amount
            if has_fractions(each):
                others += each.weight, abs(each.constant())
        step = common_step((*map(abs, amounts.values()), *others)) or (
            Fraction(1))
        return cls(step, tuple(
            (variable, int(amount / step))
            for variable, amount in amounts.items() if amount),
            sum((each.constant() for each in penalties), Fraction(0)) / step)

    @property
    def is_plain(self) -> bool:
        """Whether solvers can distinguish its numbers."""
        return self.largest <= FAR_APART

    def most(self, cost: Fraction) -> int:
        """The largest sum of the terms, in steps, at this cost."""
        return math.floor(cost / self.step - self.constant)

    def expression(self) -> LpAffineExpression:
        """The cost, in units of ``largest`` steps."""
        return LpAffineExpression(
            [(variable, steps / self.largest)
             for variable, steps in self.terms],
            constant=float(self.constant / self.largest))

    def scaled_limit(self, most: int) -> float:
        """The limit for a row of the terms, in units of ``largest`` steps. It
        includes a tolerance for rounding that is smaller than one step.

        :param most: the limit, in steps
        """
        limit = most / self.largest
        return limit + min(0.5 / self.largest,
                           FEASIBILITY * max(1.0, abs(limit)))


def tiers(penalties: Sequence[Penalty]) -> tuple[tuple[Penalty, ...], ...]:
    """Groups of preferences whose weights solvers can distinguish, the
    heaviest first."""
    found: list[list[Penalty]] = []
    for each in sorted(penalties, key=lambda p: -p.weight):
        if not each.weight:
            continue
        if found and CostRow.of([*found[-1], each]).is_plain:
            found[-1].append(each)
        else:
            found.append([each])
    return tuple(map(tuple, found))


def has_fractions(penalty: Penalty) -> bool:
    """Whether the violations contain continuous variables."""
    return any(variable.cat != pulp.LpInteger
               for variable in penalty.violations)
