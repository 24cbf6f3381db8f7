# SPDX-License-Identifier: Apache-2.0
"""What preferences can cost: sums of whole violations at their weights."""

from collections.abc import Iterable
from math import ceil

from nova_holistic.solver.problem.exact_weights import common_step, exact
from nova_holistic.solver.problem.tolerances import COST_ERROR


def rounded_up(bound: float, weights: Iterable[float]) -> float:
    """A cost that no plan's preferences are below, where a solver says that
    theirs is the bound or more."""
    weights = [*weights]
    off = COST_ERROR * max(max(weights, default=0.0), abs(bound))
    step = float(common_step(map(exact, weights)))
    low = bound - off
    if low <= 0:
        return 0.0
    # Where multiples lie closer than the solver is exact, none is told.
    return ceil(low / step) * step if step > 4 * off else low
