# SPDX-License-Identifier: Apache-2.0
"""Programs of which a solver's "infeasible" is no proof, because of rounding.

Solvers work with floats and tolerances. Coefficients that differ in the last
digits of those are taken for equal, or for nothing, and what fits a host to
the last unit is then said not to fit.
"""

import itertools

from pulp import LpProblem

from nova_holistic.solver.problem.tolerances import (
    DISTINCT_COEFFICIENTS, EQUAL_COEFFICIENTS)


def is_ill_conditioned(problem: LpProblem) -> bool:
    """Whether coefficients of one row differ, from each other or from 0, by
    little more than nothing."""
    return any(
        EQUAL_COEFFICIENTS < (more - less) / sizes[-1] < DISTINCT_COEFFICIENTS
        for row in problem.constraints()
        for sizes in [sorted({0.0, *map(abs, row.values())})]
        for less, more in itertools.pairwise(sizes))
