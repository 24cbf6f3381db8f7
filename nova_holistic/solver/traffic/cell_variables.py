# SPDX-License-Identifier: Apache-2.0
"""The number of members in each cell of the topology, as variables of a
program."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from pulp import LpConstraintLE

from nova_holistic.solver.decomposition.partition import refined
from nova_holistic.solver.limits.current import decomposition
from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import Atom, Kind, Row
from nova_holistic.solver.traffic.count_bounds import CountBounds


@dataclass(frozen=True, slots=True, eq=False)
class CellPartition:
    """A partition of hosts into cells. The hosts of a cell are in the same
    domains of all coarse levels.

    :ivar of: [host]: its cell
    :ivar domain_of: coarse level to [cell]: its domain; -1 for hosts in no
        domain
    :ivar count: number of cells
    """

    of: np.ndarray
    domain_of: dict[str, np.ndarray]
    count: int

    @classmethod
    def of_table(cls, table: HostTable,
                 needed: Set[str] = frozenset()) -> 'CellPartition':
        """The partition of all hosts of a table by the coarse levels: the
        levels above hosts, up to the first level that leads to too many
        cells.

        Domains of the other levels are aggregated, which proves better bounds
        and leads to better plans than many cells.

        :param needed: levels by which hosts are divided as far as possible
        """
        of, levels = np.zeros(len(table), dtype=np.int64), []
        every = table.snapshot.levels
        for number, level in enumerate(every):
            finer = refined(table, of, (level,))
            if finer is None or finer.max(initial=0) >= limits().cells and (
                    needed.isdisjoint(every[number:])):
                break
            of = finer
            levels.append(level)
        first = np.unique(of, return_index=True)[1]
        return cls(of, {level: table.division(level).of_host[first]
                        for level in levels}, len(first))


class CellVariables:
    """The variables m[part, cell], which are the numbers of members of a part
    in a cell, and the other variables in the rows of rules.

    Parts are the largest sets of members that are either completely inside or
    completely outside each node and each scope of the rows.

    :param nodes: paths of the members of each node
    :ivar parts: paths of the members of each part
    :ivar size: number of variables
    :ivar limits: upper limits of the variables
    """

    def __init__(self, kinds: Kinds, bounds: CountBounds,
                 partition: CellPartition, nodes: Sequence[Collection[str]]):
        self.partition = partition
        self._kinds, self._bounds = kinds, bounds
        self._rows = [row for row in bounds.rules.every_row(
            partition.domain_of) if self._is_expressible(row)]
        scopes = sorted({atom.scope for row in self._rows
                         for atom, _ in row.terms if atom.scope >= 0})
        self._part(nodes, scopes)
        if len(self.parts) * partition.count > decomposition().part_variables:
            self._rows = []
            self._part(nodes, [])
        self._others: dict[Atom, int] = {}
        for row in self._rows:
            for atom, _ in row.terms:
                if atom.kind in (Kind.FREE, Kind.USED):
                    self._others.setdefault(atom, len(self._others))
        self._counts = len(self.parts) * partition.count
        self.size = self._counts + len(self._others)
        self.limits = self._upper()

    def columns(self, members: Collection[str],
                cells: np.ndarray) -> np.ndarray:
        """Variables whose sum is the number of these members in the cells.

        :param members: member paths: a union of parts
        :param cells: mask of cells
        """
        inside = sorted({self._part_of[path] for path in members})
        return np.add.outer(np.array(inside, dtype=np.int64)
                            * self.partition.count,
                            np.flatnonzero(cells)).ravel()

    def alternatives(self) -> Iterator[list[np.ndarray]]:
        """For each row that permits only one of several domains: for each of
        these domains, the variables that are then 0."""
        for row in self._rows:
            for sign in (1,) if row.sense == LpConstraintLE else (-1,):
                one = self._exclusive_atoms(row, sign)
                if one:
                    yield [np.concatenate([np.zeros(0, dtype=np.int64), *(
                        self._counted(other) for other in one
                        if other is not atom)]) for atom in one]

    def _exclusive_atoms(self, row: Row, sign: int) -> list[Atom]:
        """Atoms of which the row permits at most one to be 1; empty for other
        rows."""
        used = [(atom, sign * weight) for atom, weight in row.terms
                if atom.kind is Kind.USED]
        free = any(self._bounds.upper(atom) for atom, _ in row.terms
                   if atom.kind is not Kind.USED)
        if len(used) < 2 or free or len(
                {(a.scope, a.level, weight) for a, weight in used}) > 1:
            return []
        weight = used[0][1]
        fits = weight > 0 and weight <= sign * row.limit < 2 * weight
        return [atom for atom, _ in used] if fits else []

    def _upper(self) -> np.ndarray:
        return np.concatenate((
            np.repeat([float(len(paths)) for paths in self.parts],
                      self.partition.count),
            [self._bounds.upper(atom) for atom in self._others]))

    def whole(self) -> np.ndarray:
        """Mask of the integer variables."""
        return np.array([True] * self._counts + [
            atom.kind is Kind.USED or atom.whole for atom in self._others],
            dtype=bool)

    def add_rows(self, program: Linear) -> None:
        """Add the rows of these variables to a program that begins with them.
        """
        count, cells = self._counts, self.partition.count
        # Each member is in one cell.
        sizes = np.array([len(paths) for paths in self.parts], float)
        program.add_rows([(np.arange(count).reshape(-1, cells).T, 1.0)],
                         sizes, sizes)
        placed_counts = self._placed_counts()
        occupied = np.flatnonzero(placed_counts)
        if len(occupied):
            # Members that stay are in their cells.
            program.add_rows([(occupied, 1.0)], placed_counts[occupied],
                             np.inf)
        for row in self._rows:
            self._add_row(program, row)
        for atom, number in self._others.items():
            if atom.kind is Kind.USED:
                counted = self._counted(atom)
                most = len(self._bounds.rules.scopes[atom.scope].members)
                # No member is in a domain that is not used.
                program.add_row([(counted, 1.0), (count + number, -most)],
                                -np.inf, 0.0)

    def _part(self, nodes: Sequence[Collection[str]],
              scopes: Sequence[int]) -> None:
        inside: dict[str, list[int]] = {
            m.path: [] for m in self._kinds.members}
        those = [*nodes, *(
            [m.path for m in self._bounds.rules.scopes[s].members]
            for s in scopes)]
        for number, paths in enumerate(those):
            for path in paths:
                inside[path].append(number)
        found: dict[tuple[int, ...], set[str]] = defaultdict(set)
        for path, numbers in inside.items():
            found[tuple(numbers)].add(path)
        self.parts = [found[key] for key in sorted(found)]
        self._part_of = {path: part for part, paths in enumerate(self.parts)
                         for path in paths}

    def _is_expressible(self, row: Row) -> bool:
        return bool(row.terms) and all(
            atom.kind is Kind.FREE or atom.level in self.partition.domain_of
            for atom, _ in row.terms)

    def _counted(self, atom: Atom) -> np.ndarray:
        number = self._bounds.table.domain_number(atom)
        members = {
            m.path for m in self._bounds.rules.scopes[atom.scope].members}
        return self.columns(
            members, self.partition.domain_of[atom.level] == number)

    def _add_row(self, program: Linear, row: Row) -> None:
        terms = [(np.array([self._counts + self._others[atom]])
                  if atom in self._others else self._counted(atom), weight)
                 for atom, weight in row.terms]
        if any(columns.size for columns, _ in terms):
            program.add_row(terms, *row.bounds())

    def _placed_counts(self) -> np.ndarray:
        found = np.zeros(self._counts)
        for path, host in self._kinds.placed.items():
            found[self._part_of[path] * self.partition.count
                  + self.partition.of[host]] += 1
        return found
