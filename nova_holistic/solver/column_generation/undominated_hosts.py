# SPDX-License-Identifier: Apache-2.0
"""The hosts that patterns need if the objective is the number of hosts.

Host a dominates host b if it has at least as much room in every respect. In a
placement on fewer than n hosts, the members of a host with n dominating hosts
can move to one of them that is not in use. Therefore, hosts with n dominating
hosts are not needed. If policies on domains are ignored, this is also true of
fractions of hosts.
"""

import numpy as np

from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.limits.current import column_generation as limits


def undominated_hosts(columns: Columns, most: float) -> np.ndarray:
    """Numbers of the hosts of the columns that placements on fewer than
    ``most`` hosts need. Some other hosts are included, because hosts are only
    compared with the best ones.

    :param columns: hosts of equal cost, on which no member stays
    """
    values, of, numbers = np.unique(
        np.column_stack((columns.cell, -columns.cell, columns.values())),
        axis=0, return_inverse=True, return_counts=True)
    spread = np.ptp(values, axis=0)
    values, spread = values[:, spread > 0], spread[spread > 0]
    order = np.argsort(-(values / spread).sum(axis=1), kind='stable')
    before = np.cumsum(numbers[order]) - numbers[order]
    left = np.arange(len(values))
    # Nearly all hosts are dominated by the very best hosts, and need not be
    # compared with the others.
    for factor in limits().compared_hosts:
        best = order[before < factor * most]
        left = left[_dominating(values, left, best, numbers) < most]
    return np.flatnonzero(np.isin(of.reshape(-1), left))


def _dominating(values: np.ndarray, rows: np.ndarray, best: np.ndarray,
                numbers: np.ndarray) -> np.ndarray:
    """[row]: number of hosts of the best rows that dominate hosts of the row.

    :param values: [row, property]; no two rows are equal
    :param numbers: [row]: number of hosts
    """
    found = rows[:, None] != best[None, :]
    for column in values.T:
        found &= column[best][None, :] >= column[rows][:, None]
    return found @ numbers[best]
