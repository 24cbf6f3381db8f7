# SPDX-License-Identifier: Apache-2.0
"""Programs for which the result "infeasible" may be a rounding error.

Solvers use floating-point numbers and tolerances. They consider coefficients
equal, or 0, if the difference is below the tolerance. Members that fit a host
exactly are then reported not to fit.
"""

import itertools

from pulp import LpProblem

from nova_holistic.solver.numerics.tolerances import (
    DISTINCT_COEFFICIENTS, EQUAL_COEFFICIENTS)


def is_ill_conditioned(problem: LpProblem) -> bool:
    """Whether two coefficients of one row, or a coefficient and 0, have a tiny
    difference."""
    return any(
        EQUAL_COEFFICIENTS < (more - less) / sizes[-1] < DISTINCT_COEFFICIENTS
        for row in problem.constraints()
        for sizes in [sorted({0.0, *map(abs, row.values())})]
        for less, more in itertools.pairwise(sizes))
