# SPDX-License-Identifier: Apache-2.0
"""The linear program that assigns members to known patterns.

Variables: members of each kind in each cell, variables of the policies,
members without a known pattern, at a penalty, and hosts of a type that carry a
pattern. Rows: every member is in a cell, the rules of the cells hold, patterns
cover the members of each cell, and no more hosts of a type than exist carry a
pattern.
"""

from collections.abc import Mapping

import highspy
import numpy as np

from nova_holistic.solver.column_generation.branches import (
    Branch, unrestricted)
from nova_holistic.solver.column_generation.cell_program import cell_program
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.milp.weak_duality import least_sum
from nova_holistic.solver.numerics.tolerances import PRIMAL_SIMPLEX
from nova_holistic.solver.problem.kinds import Kinds

_ENDLESS = highspy.kHighsInf


class RestrictedMaster:
    """The program to which patterns are added; patterns can be fixed or
    closed.

    Costs are in units of the average cost of a member.

    :ivar types: host type of each known pattern
    :ivar patterns: [pattern, kind]: number of members
    :ivar rows: number of the rows of members and cells
    :ivar duals: dual values of these rows, after the program is solved
    :ivar used: number of hosts with each pattern, after the program is solved
    :ivar value: cost of the solution, with penalties
    :ivar share: [kind, cell]: members in the solution
    :ivar unplaced: number of members without a known pattern in the solution
    :ivar infeasible: whether the rules have no solution on the current branch
    """

    def __init__(self, kinds: Kinds, cells: Cells, host_types: HostTypes,
                 unit: float, limit: float = float('inf')):
        """
        :param unit: average cost of a member
        :param limit: maximum cost of preferences
        """
        self._host_types = host_types
        self._unit = unit
        self.shape = len(kinds.kinds), cells.count
        self.types: list[int] = []
        self.patterns = np.zeros((0, len(kinds.kinds)), dtype=np.int64)
        self.used = np.zeros(0)
        self._seen: set[tuple[int, bytes]] = set()
        self._row_of: dict[int, int] = {}
        program = cell_program(kinds, cells, limit)
        size = self.shape[0] * self.shape[1]
        places = np.arange(size)
        self._matrix, self._lower, self._upper = program.rows()
        self._numbers = kinds.numbers.astype(float)
        self._own = slice(size, size + len(cells.free))
        self._free = program.upper[self._own]
        self.rows = len(self._lower)
        # Patterns cover the members that are assigned to the cell.
        program.add_rows(
            [(places, -1.0), (len(program.upper) - size + places, 1.0)],
            0.0, np.inf)
        self._first = len(program.upper)
        self._highs = program.loaded()
        if not len(host_types.slopes):
            # An optimal solution remains feasible when columns are added, and
            # the primal simplex method continues from it.
            self._highs.setOptionValue('simplex_strategy', PRIMAL_SIMPLEX)
        self.branch_on(unrestricted(kinds, cells))
        # Before the program is solved, no member has a known pattern.
        self.duals, self.share = np.zeros(self.rows), np.zeros(self.shape)
        self.value, self.unplaced = float('inf'), float(kinds.numbers.sum())

    def branch_on(self, branch: Branch) -> None:
        """Restrict the program to this branch."""
        self.infeasible = False
        self._least, self._most = np.zeros(len(self._free)), self._free.copy()
        for number, value in branch.fixed:
            self._least[number] = self._most[number] = value
        self._closed = branch.closed
        upper = np.concatenate((np.where(branch.closed.ravel(), 0.0, np.repeat(
            self._numbers, self.shape[1])), self._most))
        self._highs.changeColsBounds(
            len(upper), np.arange(len(upper), dtype=np.int32),
            np.concatenate((np.zeros(branch.closed.size), self._least)), upper)

    @property
    def size(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self._highs.getNumRow(), self._highs.getNumCol()

    def penalise(self, prices: np.ndarray) -> None:
        """Set the penalties.

        :param prices: [kind]: penalty of a member without a known pattern
        """
        kinds, cells = self.shape
        columns = np.arange(self._first - kinds * cells, self._first)
        self._highs.changeColsCost(
            len(columns), columns.astype(np.int32),
            np.repeat(prices / self._unit, cells))

    def add(self, types: np.ndarray, patterns: np.ndarray) -> int:
        """Add patterns on hosts, and return the number of new patterns."""
        costs = self._host_types.cost(types, patterns)
        fresh = []
        for number, type_ in enumerate(types.tolist()):
            key = type_, patterns[number].tobytes()
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(number)
        if fresh:
            self._append(types[fresh], patterns[fresh], costs[fresh])
        return len(fresh)

    def _append(self, types: np.ndarray, patterns: np.ndarray,
                costs: np.ndarray) -> None:
        number, names = len(types), types.tolist()
        self._limit_types([s for s in dict.fromkeys(names)
                           if s not in self._row_of])
        # Each column ends with the row of its type.
        of, kinds = np.nonzero(patterns)
        ends = np.cumsum(np.bincount(of, minlength=number) + 1)
        rows = np.zeros(ends[-1], dtype=np.int32)
        values = np.ones(ends[-1])
        positions = np.arange(len(of)) + of
        rows[positions] = (self.rows + kinds * self.shape[1]
                           + self._host_types.cell[types[of]])
        values[positions] = patterns[of, kinds]
        rows[ends - 1] = [self._row_of[each] for each in names]
        self._highs.addCols(
            number, costs / self._unit, np.zeros(number),
            np.full(number, _ENDLESS), len(values),
            np.append(0, ends[:-1]).astype(np.int32), rows, values)
        self.types += names
        self.patterns = np.concatenate((self.patterns, patterns))

    def _limit_types(self, types: list[int]) -> None:
        # The hosts of a type that carry patterns do not exceed its number.
        number, first = len(types), self._highs.getNumRow()
        self._row_of.update(zip(types, range(first, first + number)))
        if types:
            self._highs.addRows(
                number, np.full(number, -_ENDLESS),
                self._host_types.numbers[types].astype(float), 0,
                np.zeros(number, dtype=np.int32),
                np.zeros(0, dtype=np.int32), np.zeros(0))

    def fix(self, fixed: Mapping[int, int],
            most: np.ndarray | None) -> None:
        """Require at least this number of hosts for the fixed patterns. Close
        other patterns that hold more members of a kind than needed.

        :param fixed: number of hosts with each fixed pattern
        :param most: [kind]: needed members; None closes no pattern
        """
        number = len(self.types)
        lower, upper = np.zeros(number), np.full(number, _ENDLESS)
        if most is not None:
            upper[(self.patterns > most).any(axis=1)] = 0.0
        for column, hosts in fixed.items():
            lower[column], upper[column] = hosts, _ENDLESS
        self._highs.changeColsBounds(number, np.arange(
            self._first, self._first + number, dtype=np.int32), lower, upper)

    def places(self, hosts: Mapping[int, int]) -> np.ndarray:
        """[kind, cell]: places on this number of hosts with each pattern."""
        found = np.zeros(self.shape, dtype=np.int64)
        for column, number in hosts.items():
            found[:, self._host_types.cell[self.types[column]]] += (
                number * self.patterns[column])
        return found

    def solve(self, seconds: float) -> bool:
        """Solve the program, and store the solution in the attributes. Return
        whether it was solved to optimality within this time."""
        self._highs.setOptionValue('time_limit', (
            self._highs.getRunTime() + max(seconds, 0.01)))
        self._highs.run()
        status = self._highs.getModelStatus()
        self.infeasible = status == highspy.HighsModelStatus.kInfeasible
        if status != highspy.HighsModelStatus.kOptimal:
            return False
        solution = self._highs.getSolution()
        values = np.array(solution.col_value)
        self.duals = np.array(solution.row_dual)[:self.rows] * self._unit
        size = self.shape[0] * self.shape[1]
        self.value = self._unit * (
            self._highs.getInfo().objective_function_value)
        self.used = values[self._first:]
        self.share = values[:size].reshape(self.shape)
        self.unplaced = float(values[self._first - size:self._first].sum())
        return True

    def prices(self, duals: np.ndarray) -> tuple[np.ndarray, float]:
        """Prices as [kind, cell], and the bound that the duals of the rows of
        members and cells prove, before the gains of hosts are subtracted.

        The bound holds by weak duality for any duals: values with a sign that
        a row does not allow are replaced by 0.
        """
        duals = np.where(np.isneginf(self._lower), np.minimum(duals, 0.0),
                         duals)
        duals = np.where(np.isposinf(self._upper), np.maximum(duals, 0.0),
                         duals)
        covered = duals @ self._matrix
        size = self.shape[0] * self.shape[1]
        limit = np.where(duals > 0, self._lower, self._upper)
        terms = duals * np.where(duals != 0, limit, 0.0)
        # The policies' variables may take the most favourable value.
        own = covered[self._own]
        ends = np.where(own > 0, self._most, self._least)
        proved = least_sum(np.concatenate((
            terms, -own[own != 0] * ends[own != 0])))
        prices = np.maximum(covered[:size], 0.0).reshape(self.shape)
        return np.where(self._closed, 0.0, prices), proved
