# SPDX-License-Identifier: Apache-2.0
"""Programs of which a solver's "infeasible" is no proof, because of rounding.

Solvers work with floats and tolerances. Coefficients that differ in the last
digits of those are taken for equal, or for nothing, and what fits a host to
the last unit is then said not to fit.
"""

import itertools

from pulp import LpProblem

_SAME = 1e-13
_APART = 1e-3
"""Shares of a row's largest coefficient: what differs by less than the first
is equal; by less than the second, hard to tell apart."""


def is_ill_conditioned(problem: LpProblem) -> bool:
    """Whether coefficients of one row differ, from each other or from 0, by
    little more than nothing."""
    return any(
        _SAME < (more - less) / sizes[-1] < _APART
        for row in problem.constraints()
        for sizes in [sorted({0.0, *map(abs, row.values())})]
        for less, more in itertools.pairwise(sizes))
