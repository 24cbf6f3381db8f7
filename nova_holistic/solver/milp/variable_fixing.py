# SPDX-License-Identifier: Apache-2.0
"""One program asked again and again, with fewer places or without whole
numbers: far cheaper than to write one down each time."""

from collections.abc import Collection, Iterator
import contextlib

import numpy as np
import pulp
from pulp import LpAffineExpression, LpProblem, LpVariable

from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.tolerances import INTEGRALITY


class VariableFixing:
    """What is minimised, where members may go, and whether they could be
    divided.

    :ivar preferences: their cost, in units of the largest weight
    :ivar scaled_cost: of the objective, in its unit
    :ivar x: for each class, host to the number of its members there
    :ivar limits: [class, host]: the largest number of them
    """

    case: Case
    problem: LpProblem
    preferences: LpAffineExpression
    preference_unit: float
    scaled_cost: LpAffineExpression
    x: list[dict[int, LpVariable]]
    limits: np.ndarray

    def minimise_both(self, weight: float) -> None:
        """Preferences and the cost at once, the former times the weight."""
        self.problem.objective = LpAffineExpression(
            self.preferences * weight + self.scaled_cost)

    def least_preference(self) -> float:
        """The smallest weight of a preference, in its unit."""
        return min((carried.policy.weight / self.preference_unit
                    for carried, _, _ in self.case.rules.penalties
                    if carried.policy.weight), default=1.0)

    def fix_all_but(self, free: Collection[int], counts: Counts) -> None:
        """All but the members of the free classes stay where they are."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                here = counts[c].get(h, 0)
                variable.lowBound, variable.upBound = (
                    (0, int(self.limits[c, h])) if c in free else (here, here))

    def restrict_to(self, places: Collection[tuple[int, int]]) -> None:
        """Classes only go to those (class, host)."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                variable.lowBound, variable.upBound = 0, (
                    int(self.limits[c, h]) if (c, h) in places else 0)

    def unfix(self) -> None:
        """Everyone may go anywhere again."""
        self.fix_all_but(range(len(self.x)), tuple({} for _ in self.x))

    def used_places(self) -> Iterator[tuple[int, int]]:
        """(class, host) that the solution found uses."""
        for c, row in enumerate(self.x):
            for h, variable in row.items():
                if (variable.varValue or 0) > INTEGRALITY:
                    yield c, h

    @contextlib.contextmanager
    def linear(self) -> Iterator[None]:
        """For as long as that, no variable has to be whole."""
        whole = [variable for variable in self.problem.variables()
                 if variable.cat == pulp.LpInteger]
        for variable in whole:
            variable.cat = pulp.LpContinuous
        try:
            yield
        finally:
            for variable in whole:
                variable.cat = pulp.LpInteger
