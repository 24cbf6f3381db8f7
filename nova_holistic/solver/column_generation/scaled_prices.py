# SPDX-License-Identifier: Apache-2.0
"""Lower prices of members with a better bound.

If hosts only cost to be used, all patterns change their values by the same
factor as the prices of the members. The best factor leaves a gain to as few
hosts as the members need, as in Farley, A Note on Bounding a Class of Linear
Programming Problems, Including Cutting Stock Problems (Operations Research 38,
1990).
"""

from dataclasses import replace

import numpy as np

from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.pricing import PricingResult


def best_factor(host_types: HostTypes, gains: PricingResult,
                proved: float) -> float:
    """The factor, at most 1, with which the prices prove the best bound.

    :param host_types: hosts that only cost to be used
    :param gains: the gains of the hosts before the prices change
    :param proved: the bound before the gains are subtracted
    """
    value, cost = _values(gains, host_types), host_types.opening
    # From this factor on, a host has a gain.
    least = np.divide(cost, value, out=np.ones(len(cost)), where=value > 0)
    order = np.argsort(least, kind='stable')
    # From here on, the gains rise faster than the value of the members.
    beyond = np.flatnonzero(np.cumsum(
        (host_types.numbers * value)[order]) > proved)
    return float(least[order[beyond[0]]]) if len(beyond) else 1.0


def scaled(gains: PricingResult, host_types: HostTypes,
           factor: float) -> PricingResult:
    """The gains with limits for prices that are multiplied by the factor."""
    return replace(gains, most=np.maximum(
        factor * _values(gains, host_types) - host_types.opening, 0.0))


def _values(gains: PricingResult, host_types: HostTypes) -> np.ndarray:
    """[type]: the maximum price of members on one host."""
    return np.where(gains.most > 0, gains.most + host_types.opening, 0.0)
