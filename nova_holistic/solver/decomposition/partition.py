# SPDX-License-Identifier: Apache-2.0
"""Hosts divided into cells, by all that rules tell apart, while they are few.
"""

from collections.abc import Sequence

import numpy as np

from nova_holistic.model.domain import HOST
from nova_holistic.model.policy import Policy
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.hosts import HostTable


def refined(table: HostTable, of: np.ndarray,
            levels: Sequence[str]) -> np.ndarray | None:
    """Cells crossed with the levels' domains, unless there are too many."""
    for level in levels:
        if level == HOST:
            return None
        division = table.division(level)
        if len(division.domains) > limits().cells:
            return None
        pairs = np.stack((of, division.of_host))
        of = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    return None if of.max(initial=0) >= limits().cells else of


def is_host_filter(policy: Policy) -> bool:
    """Whether its answers, host by host, are all that there is to it."""
    return (policy.hard and not policy.levels
            and type(policy).admits is not Policy.admits)
