# SPDX-License-Identifier: Apache-2.0
"""The program over bins of merged hosts."""

from collections.abc import Sequence

import numpy as np

from nova_holistic.model.objective import Outlay
from nova_holistic.solver.backend import Outcome
from nova_holistic.solver.cells import Cells
from nova_holistic.solver.columns import Columns, curve, TINY
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver.linear import Linear

_TOLERANCE = 1e-6

_NEARLY = 0.5
"""How much more than the room for a kind free amounts may say there is."""


class Merging:
    """x[kind, bin], y[bin] hosts in use, pieces of curves, variables of the
    cells' rules.

    :ivar used: once it is solved, hosts in use of each bin
    :ivar parts: once it is solved, [part, cell]: members of the cells' parts
    :ivar penalty: once it is solved, what preferences cost
    :ivar unit: what the dearest of them costs
    :ivar constant: what they cost whatever is done
    """

    def __init__(self, kinds: Kinds, cells: Cells, outlay: Outlay,
                 columns: Columns, bins: Sequence[np.ndarray]):
        self._kinds, self._count = len(kinds.kinds), len(bins)
        k, b, r = self._kinds, self._count, len(kinds.names)
        size = np.array([len(each) for each in bins])
        values, weight = columns.values(), columns.weight
        best = np.array([values[each].max(axis=0) for each in bins],
                        float).reshape(b, -1)
        mean = np.array([weight[each].mean() for each in bins])
        free, room = best[:, :r] * mean[:, None], best[:, r:r + k] * (
            mean[:, None])
        opening = -best[:, r + k] * mean
        crowd = kinds.crowd * mean / np.array(
            [weight[each].min() for each in bins])
        self._slopes = outlay.slopes
        n_x, n_p = k * b, (1 + len(outlay.slopes)) * b if outlay.slopes else 0
        self._size = n_x + b + n_p + len(cells.free)
        cost = np.zeros(self._size)
        cost[n_x:n_x + b] = opening
        upper = np.concatenate((
            (room * size[:, None]).T.ravel(), size,
            np.full(n_p, np.inf), cells.free)).astype(float)
        program = self.program = Linear(cost, upper)
        of_x = np.arange(n_x).reshape(k, b)
        of_y = n_x + np.arange(b)
        # Every member is placed exactly once.
        program.add(np.repeat(np.arange(k), b), of_x.ravel(), np.ones(n_x),
                    kinds.numbers, kinds.numbers, k)
        # What members take of a bin, its hosts in use have free.
        scale = np.maximum(kinds.amounts.max(axis=0, initial=1), 1)
        for c in range(r):
            columns_of = np.concatenate((of_x.ravel(), of_y))
            program.add(
                np.concatenate((np.tile(np.arange(b), k), np.arange(b))),
                columns_of, np.concatenate((
                    np.repeat(kinds.amounts[:, c] / scale[c], b),
                    -free[:, c] / scale[c])), -np.inf, 0.0, b)
        # No host in use holds more of a kind than it has room for: told only
        # where its free amounts do not say nearly so.
        with np.errstate(divide='ignore', invalid='ignore'):
            told = np.nanmin(np.where(
                kinds.amounts > 0, free[:, None, :] / kinds.amounts, np.inf),
                axis=2, initial=np.inf) > room * (1 + _NEARLY)
        those = np.flatnonzero(told.T.ravel())
        rows = np.arange(len(those))
        program.add(
            np.concatenate((rows, rows)),
            np.concatenate((those, n_x + those % b)),
            np.concatenate((np.ones(len(those)), -room.T.ravel()[those])),
            -np.inf, 0.0, len(those))
        if kinds.crowd < min(kinds.numbers.sum(), room.sum(axis=1).max(
                initial=0)):
            # nor more of all kinds than the rules let in.
            program.add(
                np.concatenate((np.tile(np.arange(b), k), np.arange(b))),
                np.concatenate((of_x.ravel(), of_y)), np.concatenate((
                    np.ones(n_x), -crowd)),
                -np.inf, 0.0, b)
        if outlay.slopes:
            self._climb(columns, bins, size, n_x + b, of_x)
        self._cells, self._first = cells, n_x + b + n_p
        self._cell = np.array([columns.cell[e[0]] for e in bins])
        before = program.count
        cells.add_rows(program, of_x, self._cell, self._first)
        self._rules = slice(before, program.count)
        self._penalty, self.constant = cells.penalty(
            self._size, of_x, self._cell, self._first)
        self.unit = max(float(np.abs(self._penalty).max()), TINY)
        if cells.used.any():
            program.integer = np.zeros(self._size, dtype=bool)
            program.integer[self._first:] = cells.used

    def _climb(self, columns: Columns, bins: Sequence[np.ndarray],
               size: np.ndarray, first: int, of_x: np.ndarray) -> None:
        """The cost of a bin is one variable, below which are the pieces of
        the curve, and what each member would cost alone on a host."""
        k, b, number = self._kinds, self._count, len(self._slopes)
        before = np.array([columns.before[e].min() for e in bins])
        steps = np.array([columns.steps[e].min(axis=0) for e in bins])
        edges = np.arange(number + 1) / number
        low = np.maximum(edges[:-1], before[:, None])
        width = np.maximum(edges[1:] - low, 0.0)
        of_p = first + b + np.arange(number * b).reshape(number, b)
        self.program.upper[of_p.ravel()] = (width * size[:, None]).T.ravel()
        unit = max(float(steps.max(initial=0)), TINY)
        # All that is added stands on the pieces.
        self.program.add(
            np.tile(np.arange(b), number + k),
            np.concatenate((of_p.ravel(), of_x.ravel())),
            np.concatenate((np.full(of_p.size, 1 / unit),
                            -(steps.T / unit).ravel())), 0.0, np.inf, b)
        of_c = first + np.arange(b)
        self.program.cost[of_c] = 1.0
        slopes = np.array(self._slopes)
        rows = np.arange(b)
        self.program.add(
            np.concatenate((rows, np.tile(rows, number))),
            np.concatenate((of_c, of_p.ravel())),
            np.concatenate((np.ones(b), -np.repeat(slopes, b))),
            0.0, np.inf, b)
        alone = (curve(before[:, None] + steps, slopes)
                 - curve(before[:, None], slopes))
        self.program.add(
            np.concatenate((rows, np.tile(rows, k))),
            np.concatenate((of_c, of_x.ravel())),
            np.concatenate((np.ones(b), -alone.T.ravel())), 0.0, np.inf, b)

    def whole_numbers(self) -> None:
        """Hosts in use and members are whole."""
        self.program.integer = np.arange(self._size) < (
            self._kinds + 1) * self._count
        self.program.integer[self._first:] = self._cells.whole

    def minimise_penalty(self) -> None:
        """What preferences cost, in units of the dearest, and nothing else.
        """
        self.program.cost = self._penalty / self.unit

    def limit_penalty(self, limit: float) -> None:
        """From here on preferences cost no more than that."""
        those = np.flatnonzero(self._penalty)
        most = (limit - self.constant) / self.unit
        if len(those):
            self.program.add(
                np.zeros(len(those)), those, self._penalty[those] / self.unit,
                -np.inf, most + _TOLERANCE * max(1.0, abs(most)), 1)

    @property
    def duals(self) -> np.ndarray:
        """Once it is solved without whole variables: what a member of each
        kind costs, and what each row of the cells' rules."""
        return np.concatenate((self.program.duals[:self._kinds],
                               self.program.duals[self._rules]))

    def solve(self, seconds: float, gap: float = 0.0,
              nodes: int | None = None) -> tuple[Outcome, np.ndarray]:
        """What came of it, and members by kind and bin: 0 where nothing."""
        outcome, values = self.program.solve(seconds, gap, nodes)
        n_x = self._kinds * self._count
        if not outcome.solved:
            values = np.zeros(self._size)
        x = values[:n_x].reshape(self._kinds, self._count)
        self.used = values[n_x:n_x + self._count]
        self.parts = self._cells.in_cells(x, self._cell, values[self._first:])
        self.penalty = float(self._penalty @ values) + self.constant
        return outcome, x
