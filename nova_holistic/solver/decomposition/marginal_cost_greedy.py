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

    Kinds with the largest increase of utilisation come first. Each member goes
    to the host with the smallest increase of the cost.

    :param quota: [kind, cell]: number of places in each cell
    :param order: indexes of all hosts of the columns: the first of several
        equal hosts is used
    """
    curve_slopes = np.array(slopes)
    share = columns.before.copy()
    free = columns.free.astype(np.int64).copy()
    taken = np.zeros((len(kinds.kinds), len(share)), dtype=np.int64)
    total = np.zeros(len(share), dtype=np.int64)
    for k in np.argsort(-columns.steps.mean(axis=0), kind='stable').tolist():
        step, amounts = columns.steps[:, k], kinds.amounts[k]
        rise = curve(share + step, curve_slopes) - curve(share, curve_slopes)
        rise[~((free >= amounts) | (amounts == 0)).all(axis=1)] = np.inf
        rise[(columns.room[:, k] == 0)
             | (total >= kinds.most_on_a_host)] = np.inf
        for cell in range(quota.shape[1]):
            inside = order[columns.cell[order] == cell]
            here = rise[inside]
            for _ in range(int(quota[k, cell])):
                if not len(here):
                    return None
                best = int(np.argmin(here))
                if not np.isfinite(here[best]):
                    return None
                h = inside[best]
                taken[k, h] += 1
                total[h] += 1
                share[h] += step[h]
                free[h] -= amounts
                more = (taken[k, h] < columns.room[h, k]
                        and total[h] < kinds.most_on_a_host
                        and bool(((free[h] >= amounts)
                                  | (amounts == 0)).all()))
                here[best] = float(
                    curve(share[h] + step[h], curve_slopes)
                    - curve(share[h], curve_slopes)) if more else np.inf
    return taken


def rounded_counts(x: np.ndarray, cell: np.ndarray, cells: int,
                   numbers: np.ndarray) -> np.ndarray:
    """[kind, cell]: members of the relaxation, rounded to whole numbers.

    :param x: [kind, bin]
    :param cell: cell of each bin
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
