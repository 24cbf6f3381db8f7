# SPDX-License-Identifier: Apache-2.0
"""An ordering of the hosts by the objective."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.construct.attempt import Attempt
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.utilisation_curve import curve


@dataclass(frozen=True, slots=True)
class CheapestHost:
    """A score that prefers hosts on which one more member increases the
    objective the least.

    If members share the cost of a host, it is divided by the share of the
    pending members for which the host has room. Among hosts without a cost,
    the fullest host comes first.
    """

    host_cost: HostCost

    def __call__(self, attempt: Attempt) -> np.ndarray:
        full, unused = attempt.fullness(), ~attempt.used_by_group
        opening = self.host_cost.opening(1 - full) * unused
        if self.host_cost.slopes and len(attempt.capacity):
            slopes = np.array(self.host_cost.slopes)
            step = (attempt.needs(attempt.current)[:, None]
                    / attempt.capacity).mean(axis=0)
            return opening + curve(full + step, slopes) - curve(full, slopes)
        room = np.ones(len(full))
        for amount, free in zip(attempt.pending, attempt.free):
            if amount:
                room = np.minimum(room, free / amount)
        return np.where(unused, opening / np.maximum(room, EQUAL_COSTS), -full)
