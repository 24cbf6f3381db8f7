# SPDX-License-Identifier: Apache-2.0
"""Changes of one program between solutions: fewer places, or no integrality.
This is far cheaper than building a new program each time."""

from collections.abc import Collection, Iterator
import contextlib

import numpy as np
import pulp
from pulp import LpAffineExpression, LpProblem, LpVariable

from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.tolerances import INTEGRALITY


class VariableFixing:
    """The objective of a program, the places of members, and integrality.

    :ivar preferences: their cost, in units of the largest weight
    :ivar scaled_cost: cost of the objective, in its unit
    :ivar x: for each class, host to the number of its members there
    :ivar limits: [class, host]: upper limit of the number
    """

    case: Case
    problem: LpProblem
    preferences: LpAffineExpression
    preference_unit: float
    scaled_cost: LpAffineExpression
    x: list[dict[int, LpVariable]]
    limits: np.ndarray

    def minimise_both(self, weight: float) -> None:
        """Minimise the sum of the weighted preferences and the cost."""
        self.problem.objective = LpAffineExpression(
            self.preferences * weight + self.scaled_cost)

    def least_preference(self) -> float:
        """The smallest weight of a preference, in units of the largest."""
        return min((carried.policy.weight / self.preference_unit
                    for carried, _, _ in self.case.rules.penalties
                    if carried.policy.weight), default=1.0)

    def fix_all_but(self, free: Collection[int], counts: Counts) -> None:
        """Fix all members except those of the free classes."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                here = counts[c].get(h, 0)
                variable.lowBound, variable.upBound = (
                    (0, int(self.limits[c, h])) if c in free else (here, here))

    def restrict_to(self, places: Collection[tuple[int, int]]) -> None:
        """Restrict the classes to these (class, host) places."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                variable.lowBound, variable.upBound = 0, (
                    int(self.limits[c, h]) if (c, h) in places else 0)

    def unfix(self) -> None:
        """Remove all restrictions of places."""
        self.fix_all_but(range(len(self.x)), tuple({} for _ in self.x))

    def used_places(self) -> Iterator[tuple[int, int]]:
        """(class, host) places that the solution uses."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                if (variable.varValue or 0) > INTEGRALITY:
                    yield c, h

    @contextlib.contextmanager
    def linear(self) -> Iterator[None]:
        """Context in which all variables are continuous."""
        whole = [variable for variable in self.problem.variables()
                 if variable.cat == pulp.LpInteger]
        for variable in whole:
            variable.cat = pulp.LpContinuous
        try:
            yield
        finally:
            for variable in whole:
                variable.cat = pulp.LpInteger
