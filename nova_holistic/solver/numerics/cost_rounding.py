# SPDX-License-Identifier: Apache-2.0
"""Rounding of bounds to possible costs of preferences, which are sums of
integer violations times weights."""

from collections.abc import Iterable
from math import ceil

from nova_holistic.solver.numerics.exact_weights import common_step, exact
from nova_holistic.solver.numerics.tolerances import COST_ERROR


def rounded_up(bound: float, weights: Iterable[float]) -> float:
    """Round up a solver's bound of the cost of preferences; the result is a
    valid bound of this cost for every plan."""
    weights = [*weights]
    error = COST_ERROR * max(max(weights, default=0.0), abs(bound))
    step = float(common_step(map(exact, weights)))
    low = bound - error
    if low <= 0:
        return 0.0
    # If the multiples are closer than the error of the solver, do not round.
    return ceil(low / step) * step if step > 4 * error else low
