# SPDX-License-Identifier: Apache-2.0
"""Greedy placement at the lowest marginal cost, for a cost that rises with the
utilisation of each host."""

import numpy as np

from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.utilisation_curve import curve


def assign_by_marginal_cost(kinds: Kinds, columns: Columns,
                            slopes: tuple[float, ...], quota: np.ndarray,
                            order: np.ndarray) -> np.ndarray | None:
    """[kind, host of the columns]: places; None if there are too few.

    Kinds with the largest increase of utilisation come first. Each member is
    placed on the host with the smallest increase of the cost.

    :param slopes: slopes of the cost curve over the utilisation
    :param quota: [kind, cell]: number of places in each cell
    :param order: all hosts of the columns: the first of several equal hosts is
        used
    """
    placement = _Placement(kinds, columns, np.array(slopes))
    for k in np.argsort(-columns.steps.mean(axis=0), kind='stable').tolist():
        rise = placement.rise(k)
        for cell in range(quota.shape[1]):
            inside = order[columns.cell[order] == cell]
            costs = rise[inside]
            for _ in range(int(quota[k, cell])):
                best = int(np.argmin(costs)) if len(costs) else 0
                if not len(costs) or not np.isfinite(costs[best]):
                    return None
                costs[best] = placement.put(k, inside[best])
    return placement.taken


class _Placement:
    """The members that are placed so far.

    :ivar taken: [kind, host of the columns]: places
    """

    def __init__(self, kinds: Kinds, columns: Columns, slopes: np.ndarray):
        self._kinds, self._columns, self._slopes = kinds, columns, slopes
        self._share = columns.before.copy()
        self._free = columns.free.astype(np.int64).copy()
        self.taken = np.zeros((len(kinds.kinds), len(self._share)),
                              dtype=np.int64)

    def rise(self, k: int,
             hosts: np.ndarray | slice = slice(None)) -> np.ndarray:
        """For each host, the cost of one more member of the kind; infinite if
        the host has no room."""
        amounts, share = self._kinds.amounts[k], self._share[hosts]
        free, taken = self._free[hosts], self.taken[:, hosts]
        rise = curve(share + self._columns.steps[hosts, k], self._slopes) - (
            curve(share, self._slopes))
        rise[~((free >= amounts) | (amounts == 0)).all(axis=1)
             | (taken[k] >= self._columns.room[hosts, k])
             | (taken.sum(axis=0) >= self._kinds.most_on_a_host)] = np.inf
        return rise

    def put(self, k: int, host: int) -> float:
        """Place a member; return the cost of one more on the host."""
        self.taken[k, host] += 1
        self._share[host] += self._columns.steps[host, k]
        self._free[host] -= self._kinds.amounts[k]
        return float(self.rise(k, np.array([host]))[0])


def rounded_counts(x: np.ndarray, cell: np.ndarray, cells: int,
                   numbers: np.ndarray) -> np.ndarray:
    """[kind, cell]: members of the relaxation, rounded to whole numbers.

    :param x: [kind, bin]: members in the solution
    :param cell: cell of each bin
    :param cells: number of cells
    :param numbers: number of members of each kind
    """
    fractional = np.array([[row[cell == c].sum() for c in range(cells)]
                           for row in x]).reshape(len(x), cells)
    found = np.floor(fractional + 1e-6).astype(np.int64)
    surplus = np.zeros(cells)
    for k, number in enumerate(numbers):
        missing = int(number - found[k].sum())
        rest = fractional[k] - found[k] + surplus
        # Round up in the cells with the largest missing fraction over all
        # kinds.
        for c in np.argsort(-rest, kind='stable')[:max(0, missing)]:
            found[k, c] += 1
        surplus += fractional[k] - found[k]
    return found
