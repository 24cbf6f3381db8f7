# SPDX-License-Identifier: Apache-2.0
"""Linear and integer programs as arrays, for HiGHS.

They are used if a program is too large to build variable by variable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math

import highspy
import numpy as np

from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.weak_duality import DualProgram
from nova_holistic.solver.numerics.tolerances import NO_PROBING

DETERMINISTIC = {'random_seed': 1, 'threads': 1, 'parallel': 'off'}
"""Options that make HiGHS deterministic. Its scheduler is global to the
process: after a run with one number of threads, HiGHS refuses a run with
another number. With several threads, the search is not deterministic."""

SAFE_OPTIONS = {**DETERMINISTIC, 'presolve_rule_off': NO_PROBING}
"""Options of every run. Each bit of presolve_rule_off disables a presolve
rule. Because of probing, HiGHS 1.12 to 1.15.1 incorrectly reports solutions as
optimal, or programs as infeasible; an example is a program of a product of
counts with 52 rows and 31 columns."""

Terms = Sequence[tuple[np.ndarray, np.ndarray | float]]
"""Variables and their coefficients, of shapes that are broadcast."""


@dataclass(slots=True)
class Linear:
    """Minimise cost x variables, within limits of variables and rows.

    :ivar cost: [variable]
    :ivar upper: [variable]: upper limits of the variables
    :ivar integer: mask of integer variables; None if all are continuous
    :ivar duals: [row]: dual values, after a solution without integrality
    :ivar basis: the basis from which a solution without integrality starts,
        or None; after a solution, its basis
    :ivar count: number of rows
    :ivar lower: lower limits of the variables; None if all are 0
    :ivar options: further options of HiGHS
    """

    cost: np.ndarray
    upper: np.ndarray
    integer: np.ndarray | None = None
    duals: np.ndarray | None = None
    _rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(
        default_factory=list)
    _lower: list[np.ndarray] = field(default_factory=list)
    _upper: list[np.ndarray] = field(default_factory=list)
    count: int = 0
    lower: np.ndarray | None = None
    basis: highspy.HighsBasis | None = None
    options: Mapping[str, str | int] = field(default_factory=dict)

    def add(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray,
            lower: np.ndarray | float, upper: np.ndarray | float,
            count: int) -> None:
        """Add rows to the program.

        :param rows: row of each entry, counted from 0
        :param columns: variable of each entry
        :param values: coefficient of each entry; those of one place are added
        :param lower: lower limit of each row, or one limit for all rows
        :param upper: upper limit of each row, or one limit for all rows
        :param count: number of rows
        """
        self._rows.append((np.asarray(rows) + self.count,
                           np.asarray(columns), np.asarray(values, float)))
        self._lower.append(np.broadcast_to(np.asarray(lower, float), count))
        self._upper.append(np.broadcast_to(np.asarray(upper, float), count))
        self.count += count

    def add_row(self, terms: Terms, lower: float, upper: float) -> None:
        """Add one row, which limits the sum of the terms."""
        self.add_rows([(np.reshape(columns, (-1, 1)), np.reshape(
            values, (-1, 1))) for columns, values in terms], lower, upper)

    def add_rows(self, terms: Terms, lower: np.ndarray | float,
                 upper: np.ndarray | float) -> None:
        """Add rows, each of which limits the sum of the terms with its number.

        :param terms: the variables and the coefficients are arrays whose last
            dimension is the row
        """
        parts = [np.broadcast_arrays(*term) for term in terms]
        count = parts[0][0].shape[-1]
        self.add(
            np.concatenate([np.arange(columns.size) % max(1, count)
                            for columns, _ in parts]),
            np.concatenate([columns.ravel() for columns, _ in parts]),
            np.concatenate([values.ravel() for _, values in parts]),
            lower, upper, count)

    def solve(self, seconds: float, gap: float = 0.0,
              nodes: int | None = None) -> tuple[Outcome, np.ndarray]:
        """Return the outcome and the values of the variables.

        :param nodes: maximum number of nodes of the search tree. Unlike a time
            limit, it leads to the same result on machines of any speed
        """
        model = self.loaded()
        for name, value in (
                ('time_limit', max(seconds, 0.01)), ('mip_rel_gap', gap),
                *((('mip_max_nodes', nodes),) if nodes else ()),
                *self.options.items()):
            model.setOptionValue(name, value)
        if self.basis is not None:
            model.setBasis(self.basis)
        model.run()
        self.basis = model.getBasis()
        found = model.getSolution()
        self.duals = np.array(found.row_dual)
        result = outcome(model, self.integer is not None)
        if result.status is Status.OPTIMAL and self.integer is None:
            result = Outcome(result.status, self.dual().bound(
                self.duals, self.lower_limits(), self.upper))
        return result, np.array(found.col_value)

    def is_impossible(self, seconds: float) -> bool:
        """Whether it is proved that the program without integrality has no
        solution. The answer does not depend on tolerances of the solver:
        multipliers of the rows prove that the least value of the constant 0
        would be greater than 0 (Farkas' lemma)."""
        model = self.loaded()
        for name, value in (
                # Presolve can end without multipliers.
                ('time_limit', max(seconds, 0.01)), ('presolve', 'off'),
                *self.options.items()):
            model.setOptionValue(name, value)
        model.run()
        if model.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
            return False
        _, found, ray = model.getDualRay()
        return found and self.dual().is_impossible(
            np.array(ray), self.lower_limits(), self.upper)

    def lower_limits(self) -> np.ndarray:
        """Lower limits of the variables."""
        return np.zeros(len(self.cost)) if self.lower is None else (
            np.asarray(self.lower, float))

    def dual(self) -> DualProgram:
        """The program without integrality, as numbers that prove bounds."""
        rows, columns, values = self._entries()
        return DualProgram(
            np.asarray(self.cost, float), rows.astype(np.int64),
            columns.astype(np.int64), values,
            np.concatenate(self._lower), np.concatenate(self._upper))

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients [row, variable], and lower and upper limits [row]."""
        matrix = np.zeros((self.count, len(self.cost)))
        for rows, columns, values in self._rows:
            np.add.at(matrix, (rows.astype(np.int64),
                               columns.astype(np.int64)), values)
        return (matrix, np.concatenate(self._lower),
                np.concatenate(self._upper))

    def loaded(self) -> highspy.Highs:
        """A HiGHS model of the program without integrality, or with it if
        ``integer`` is set. The caller may change it and solve it repeatedly.
        """
        model = highspy.Highs()
        for name, value in (*SAFE_OPTIONS.items(), ('output_flag', False)):
            model.setOptionValue(name, value)
        model.passModel(self._model())
        return model

    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values, sorted by row. Duplicate entries are
        summed, because HiGHS accepts duplicates without an error and may then
        not terminate."""
        rows, columns, values = (
            np.concatenate(parts) for parts in zip(*self._rows))
        place = rows.astype(np.int64) * len(self.cost) + columns
        order = np.argsort(place, kind='stable')
        first = np.flatnonzero(np.diff(place[order], prepend=-1))
        # Usually there are no duplicates, and the values remain unchanged.
        values = (values[order] if len(first) == len(order) else
                  np.add.reduceat(values[order], first))
        rows, columns = rows[order][first], columns[order][first]
        kept = values != 0
        return rows[kept], columns[kept], values[kept]

    def _model(self) -> highspy.HighsLp:
        rows, columns, values = self._entries()
        model = highspy.HighsLp()
        model.num_col_ = len(self.cost)
        model.num_row_ = self.count
        model.col_cost_ = np.asarray(self.cost, float)
        model.col_lower_ = self.lower_limits()
        model.col_upper_ = np.asarray(self.upper, float)
        model.row_lower_ = np.concatenate(self._lower)
        model.row_upper_ = np.concatenate(self._upper)
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = np.searchsorted(
            rows, np.arange(self.count + 1)).astype(np.int32)
        matrix.index_ = columns.astype(np.int32)
        matrix.value_ = values
        if self.integer is not None:
            kinds = (highspy.HighsVarType.kContinuous,
                     highspy.HighsVarType.kInteger)
            model.integrality_ = [kinds[bool(i)] for i in self.integer]
        return model


def outcome(model: highspy.Highs, whole: bool) -> Outcome:
    """The outcome of a run.

    :param whole: whether the program has integer variables
    """
    status = model.getModelStatus()
    known = highspy.HighsModelStatus
    info = model.getInfo()
    if status == known.kInfeasible:
        return Outcome(Status.INFEASIBLE)
    bound = info.mip_dual_bound if whole and math.isfinite(
        info.mip_dual_bound) else None
    if status == known.kOptimal:
        return Outcome(Status.OPTIMAL, info.objective_function_value
                       if bound is None else bound)
    feasible = info.primal_solution_status == (
        highspy.SolutionStatus.kSolutionStatusFeasible)
    return Outcome(Status.FEASIBLE if feasible else Status.NOTHING, bound)
