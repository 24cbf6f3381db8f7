# SPDX-License-Identifier: Apache-2.0
"""Members in cells, as variables of a program of bins."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import FEASIBILITY
from nova_holistic.solver.problem.rows import Atom, Kind, Terms


@dataclass(frozen=True, slots=True, eq=False)
class Penalty:
    """Cost of preferences, as a linear function of the variables.

    :ivar factors: cost of 1 of each variable of a program
    """

    factors: np.ndarray
    constant: float

    @property
    def unit(self) -> float:
        """The largest factor."""
        return float(np.abs(self.factors).max(initial=0)) or 1.0

    def limit(self, program: Linear, limit: float) -> None:
        """Limit the cost of preferences in the program."""
        those = np.flatnonzero(self.factors)
        if len(those) and limit < float('inf'):
            most = (limit - self.constant) / self.unit
            program.add_row(
                [(those, self.factors[those] / self.unit)], -np.inf,
                most + FEASIBILITY * max(1.0, abs(most)))


class CellCounts:
    """Counts of members in rules, as variables of a program of bins.

    :param of_x: [kind, bin]: variables that count the members
    :param cell: cell of each bin
    :param first: number of the first own variable of the cells
    :ivar of_z: [slot, cell]: variables that count the members of each part
    """

    def __init__(self, cells: Cells, of_x: np.ndarray, cell: np.ndarray,
                 first: int):
        self._cells, self._of_x, self._cell = cells, of_x, cell
        self._first = first
        self.of_z = cells.of_z(first)

    def add_rows(self, program: Linear) -> None:
        """Add the rules of the cells."""
        for row in self._cells.rows:
            terms, constant = self._expand(row.terms)
            program.add_row(terms, *row.bounds(constant))
        self._add_used_rows(program)
        self._add_part_rows(program)

    def penalty(self, size: int) -> Penalty:
        """Return the cost of preferences in a program of this number of
        variables."""
        factors, total = np.zeros(size), 0.0
        for weight, terms, constant in self._cells.penalties:
            expanded, more = self._expand(terms)
            for columns, value in expanded:
                np.add.at(factors, columns, weight * value)
            total += weight * (constant + more)
        return Penalty(factors, total)

    def _expand(self, terms: Terms
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

    def _add_used_rows(self, program: Linear) -> None:
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

    def _add_part_rows(self, program: Linear) -> None:
        """Add the rows that define the members of each part in each cell."""
        cells, split = self._cells, self._cells.parts
        number = cells.count
        for part in np.flatnonzero(split.slot >= 0):
            # Every member of a part is in one cell.
            program.add_row([(self.of_z[split.slot[part]], 1.0)],
                            split.numbers[part], split.numbers[part])
        for kind in np.unique(split.kind[split.slot >= 0]):
            columns = self.of_z[split.slot[split.kind == kind]]
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
                         if slot < 0 else self.of_z[slot, where])

    def _placed_counts(self, atom: Atom) -> float:
        return float(self._cells.placed_counts[atom.scope, atom.level][
            self._cells.table.domain_number(atom)])
