# SPDX-License-Identifier: Apache-2.0
"""A relaxation's members of each kind in each cell, in whole numbers."""

import numpy as np

from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.marginal_cost_greedy import (
    rounded_counts)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.kinds import Kinds


def rounded_to_cells(kinds: Kinds, cells: Cells, x: np.ndarray,
                     cell: np.ndarray, parts: np.ndarray, limit: float
                     ) -> tuple[np.ndarray, np.ndarray | None]:
    """[kind, cell], and [part, cell] if kinds have several parts: integers
    near the solution that satisfy the cells' rules.

    :param x: [kind, bin], from the relaxation
    :param cell: cell of each bin
    :param parts: [part, cell], from the relaxation
    :param limit: maximum cost of preferences
    """
    rounded = rounded_counts(x, cell, cells.count, kinds.numbers)
    if not cells.parts.slots:
        return rounded, None
    k, c = len(kinds.kinds), cells.count
    near = np.array([np.bincount(cell, row, c) for row in x])
    outcome, values = _nearest(kinds, cells, near, limit).solve(
        limits().rounding_seconds, 0.1, limits().rounding_nodes)
    if not outcome.solved:
        return rounded, None
    found = values[:k * c].reshape(k, c).round().astype(np.int64)
    share = cells.in_cells(found, np.arange(c), values[2 * k * c:])
    return found, share.round().astype(np.int64)


def _nearest(kinds: Kinds, cells: Cells, near: np.ndarray,
             limit: float) -> Linear:
    """Variables: x[kind, cell], the distance of each from the given value, and
    the variables of the cells' rules.

    :param near: [kind, cell]
    """
    k, c = near.shape
    first = 2 * k * c
    size = first + len(cells.free)
    cost = np.zeros(size)
    cost[k * c:first] = 1.0
    of_x = np.arange(k * c).reshape(k, c)
    every = np.arange(k * c)
    program = Linear(cost, np.concatenate((
        np.repeat(kinds.numbers, c), np.full(k * c, np.inf),
        cells.free)).astype(float))
    # Every member is in some cell.
    program.add(np.repeat(np.arange(k), c), of_x.ravel(), np.ones(k * c),
                kinds.numbers, kinds.numbers, k)
    for sign in (1.0, -1.0):
        # The distance from the solution, on either side.
        program.add(
            np.concatenate((every, every)),
            np.concatenate((every + k * c, every)),
            np.concatenate((np.ones(k * c), np.full(k * c, -sign))),
            -sign * near.ravel(), np.inf, k * c)
    cells.add_rows(program, of_x, np.arange(c), first)
    cells.penalty(size, of_x, np.arange(c), first).limit(program, limit)
    program.integer = np.zeros(size, dtype=bool)
    program.integer[:k * c] = True
    program.integer[first:] = cells.whole
    return program
