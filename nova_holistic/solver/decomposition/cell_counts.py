# SPDX-License-Identifier: Apache-2.0
"""Members in cells, as variables of a program of bins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.rows import Atom, Kind, Terms

if TYPE_CHECKING:
    from nova_holistic.solver.decomposition.cells import Cells


class CellCounts:
    """Counts of members in rules, as variables of a program of bins.

    :param of_x: [kind, bin]: variables that count the members
    :param cell: cell of each bin
    :param first: number of the first own variable of the cells
    """

    def __init__(self, cells: 'Cells', of_x: np.ndarray, cell: np.ndarray,
                 first: int):
        self._cells, self._of_x, self._cell = cells, of_x, cell
        self._first = first
        self._of_z = cells.of_z(first)

    def expand(self, terms: Terms
               ) -> tuple[list[tuple[np.ndarray, float]], float]:
        """The terms over variables, and the contribution of members that
        stay."""
        found, constant = [(np.zeros(0, dtype=np.int64), 0.0)], 0.0
        for atom, weight in terms:
            if atom in self._cells.index:
                found.append((
                    np.array([self._first + self._cells.index[atom]]), weight))
                continue
            found.extend((counts, weight) for _, counts in self._of(atom))
            constant += weight * self._placed_counts(atom)
        return found, constant

    def add_used_rows(self, program: Linear) -> None:
        """Add the rows that define the variables of domains in use."""
        for atom, number in self._cells.index.items():
            if atom.kind is not Kind.USED:
                continue
            used = self._first + number
            pieces = [(part, counts) for part, counts in self._of(atom)
                      if counts.size]
            for part, counts in pieces:
                # A member can be only in a domain that is used.
                program.add_row(
                    [(counts, 1.0),
                     (used, -float(self._cells.parts.numbers[part]))],
                    -np.inf, 0.0)
            if self._placed_counts(atom):
                program.add_row([(used, 1.0)], 1.0, 1.0)
            else:
                # A domain without members is not used.
                program.add_row([(used, 1.0), *(
                    (counts, -1.0) for _, counts in pieces)], -np.inf, 0.0)

    def add_part_rows(self, program: Linear) -> None:
        """Add the rows that define the members of each part in each cell."""
        cells, split = self._cells, self._cells.parts
        number = cells.count
        for part in np.flatnonzero(split.slot >= 0):
            # Every member of a part is in one cell.
            program.add_row([(self._of_z[split.slot[part]], 1.0)],
                            split.numbers[part], split.numbers[part])
        for kind in np.unique(split.kind[split.slot >= 0]):
            columns = self._of_z[split.slot[split.kind == kind]]
            # The members of a kind in a cell are the members of its parts.
            program.add(
                np.concatenate((self._cell, np.tile(
                    np.arange(number), len(columns)))),
                np.concatenate((self._of_x[kind], columns.ravel())),
                np.concatenate((np.ones(len(self._cell)),
                                -np.ones(columns.size))), 0.0, 0.0, number)

    def _of(self, atom: Atom) -> Iterator[tuple[int, np.ndarray]]:
        """Each part, and the variables that count it in the atom's domain."""
        cells = self._cells
        where = cells.domain_of[atom.level] == cells.table.domain_number(atom)
        bins = where[self._cell]
        for part in cells.parts.within[atom.scope]:
            slot = cells.parts.slot[part]
            yield part, (self._of_x[cells.parts.kind[part], bins]
                         if slot < 0 else self._of_z[slot, where])

    def _placed_counts(self, atom: Atom) -> float:
        return float(self._cells.placed_counts[atom.scope, atom.level][
            self._cells.table.domain_number(atom)])
