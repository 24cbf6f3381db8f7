# SPDX-License-Identifier: Apache-2.0
"""Dual bounds that are valid despite the rounding errors of the solver."""

from fractions import Fraction
import math

from nova_holistic.model.objective import Objective
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.numerics.tolerances import BOUND_ERROR


def safe(objective: Objective, bound: float | None) -> float:
    """A lower bound of the value of every plan, reduced by the error of the
    solver, and rounded up if the objective is integral; 0 if nothing is
    proved."""
    if bound is None:
        return 0.0
    lower = max(0.0, bound - BOUND_ERROR * abs(bound))
    if objective.integral:
        return float(math.ceil(lower - BOUND_ERROR))
    return lower


def gap(value: float, bound: float) -> float:
    """The relative gap, (value - bound) / value; 0 if the value is 0."""
    return (value - bound) / value if value else 0.0


def is_preferred(cost: Fraction | float, least: Fraction | float,
                 accepted: float) -> bool:
    """Whether this cost of preferences reaches its lower bound, or is within
    the accepted relative gap."""
    return cost <= least * (1 + BOUND_ERROR) or (
        gap(float(cost), float(least)) <= accepted)


def is_close(objective: Objective, value: float, bound: float | None,
             accepted: float) -> bool:
    """Whether the value is within the accepted relative gap of the bound. A
    distance of 1 between large whole numbers is accepted, too, because a proof
    that 1 less is impossible usually takes the whole time limit."""
    lower = safe(objective, bound)
    relative = gap(value, lower)
    return relative <= accepted or (
        objective.integral and value - lower <= 1
        and relative <= limits().integral_gap)
