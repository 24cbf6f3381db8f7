# SPDX-License-Identifier: Apache-2.0
"""Partition of hosts into cells by the domains in rules, if they are few."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.policy import Policy
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.eligibility import admits_some
from nova_holistic.solver.problem.hosts import HostTable


def refined(table: HostTable, of: np.ndarray, levels: Sequence[str],
            most: int | None = None) -> np.ndarray | None:
    """Return the cell of each host after the cells are divided by the domains
    of the levels. None if there are too many cells, or for the host level.

    :param of: cell of each host
    :param most: maximum number of cells; None means the limit
    """
    most = limits().cells if most is None else most
    for level in levels:
        if level == HOST:
            return None
        division = table.division(level)
        if len(division.domains) > most:
            return None
        of = divided(of, division.of_host)
    return None if of.max(initial=0) >= most else of


def divided(of: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The number of each combination of values, in the order of the pairs."""
    return np.unique(np.stack((of, by)), axis=1,
                     return_inverse=True)[1].reshape(-1)


def is_host_filter(policy: Policy) -> bool:
    """Whether the policy only admits or excludes single hosts."""
    return policy.hard and not policy.levels and admits_some(policy)
