# SPDX-License-Identifier: Apache-2.0
"""The program that assigns members of each kind to cells under the rules."""

import numpy as np

from nova_holistic.solver.decomposition.cell_counts import CellCounts
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.kinds import Kinds


def cell_program(kinds: Kinds, cells: Cells, limit: float) -> Linear:
    """Variables: share[kind, cell], variables of the cells' rules, and
    short[kind, cell], the number of members without a place there. The last
    have neither rows nor costs.

    :param limit: maximum cost of preferences
    """
    shape = len(kinds.kinds), cells.count
    size = shape[0] * shape[1]
    upper = np.concatenate((np.repeat(kinds.numbers, shape[1]), cells.free,
                            np.full(size, np.inf))).astype(float)
    program = Linear(np.zeros(len(upper)), upper)
    share = np.arange(size).reshape(shape)
    # Every member is placed exactly once.
    program.add_rows([(share.T, 1.0)], kinds.numbers, kinds.numbers)
    counts = CellCounts(cells, share, np.arange(shape[1]), size)
    counts.add_rows(program)
    counts.penalty(len(upper)).limit(program, limit)
    return program


def shares_and_parts(cells: Cells, values: np.ndarray, shape: tuple[int, int]
                     ) -> tuple[np.ndarray, np.ndarray]:
    """Members as [kind, cell] and [part, cell] in an integral solution.

    :param values: values of the variables of ``cell_program``
    :param shape: numbers of kinds and of cells
    """
    size = shape[0] * shape[1]
    shares = np.rint(values[:size]).reshape(shape)
    parts = cells.in_cells(shares, np.arange(shape[1]),
                           values[size:size + len(cells.free)])
    return shares.astype(np.int64), np.rint(parts).astype(np.int64)


def integer_shares(kinds: Kinds, cells: Cells, places: np.ndarray,
                   limit: float, seconds: float
                   ) -> tuple[np.ndarray, np.ndarray] | None:
    """Members as [kind, cell] and [part, cell], as many as possible of them on
    the given places.

    :param places: [kind, cell]
    :param limit: maximum cost of preferences
    :param seconds: time limit
    :returns: None if no solution was found
    """
    program = cell_program(kinds, cells, limit)
    size = places.size
    numbers = np.arange(size)
    short = len(program.upper) - size + numbers
    # A member that is not short has a place.
    program.add_rows([(numbers, -1.0), (short, 1.0)], -places.ravel(), np.inf)
    program.cost[short] = 1.0
    program.integer = np.concatenate((
        np.ones(size, dtype=bool), cells.whole, np.zeros(size, dtype=bool)))
    outcome, values = program.solve(seconds)
    return shares_and_parts(cells, values, places.shape) if (
        outcome.solved) else None
