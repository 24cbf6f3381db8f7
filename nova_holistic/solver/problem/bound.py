# SPDX-License-Identifier: Apache-2.0
"""Dual bounds that are valid despite the rounding errors of the solver."""

import math

from nova_holistic.model.objective import Objective
from nova_holistic.solver.problem.tolerances import BOUND_ERROR


def safe(objective: Objective, bound: float | None) -> float:
    """A lower bound of the cost of every plan; 0 if nothing is proved."""
    if bound is None:
        return 0.0
    lower = max(0.0, bound - BOUND_ERROR * abs(bound))
    if objective.integral:
        return float(math.ceil(lower - BOUND_ERROR))
    return lower


def gap(value: float, bound: float) -> float:
    """(value - bound) / value; 0 if both are 0."""
    return (value - bound) / value if value else 0.0
