# SPDX-License-Identifier: Apache-2.0
"""HiGHS, in the same process."""

from collections.abc import Mapping
from typing import ClassVar

import highspy
import numpy as np
import pulp
from pulp import LpProblem, LpVariable

from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.milp.backend import Backend, Outcome, Status
from nova_holistic.solver.milp.ill_conditioned import is_ill_conditioned
from nova_holistic.solver.milp.linear import outcome, SAFE_OPTIONS
from nova_holistic.solver.milp.weak_duality import DualProgram


class _InProcess(pulp.HiGHS):
    """PuLP's driver of HiGHS, with a warm start and the whole model in one
    call.

    PuLP adds columns and rows one at a time, and does not support a warm
    start.
    """

    def __init__(self, start: Mapping[LpVariable, float] | None, **options):
        super().__init__(msg=False, **options)
        self._start = start or {}

    def buildSolverModel(self, lp):
        variables = lp.variables()
        for index, variable in enumerate(variables):
            variable.index = index
        model = highspy.HighsLp()
        model.num_col_ = len(variables)
        cost = np.zeros(len(variables))
        for variable, coefficient in lp.objective.items():
            cost[variable.index] = coefficient
        model.col_cost_ = cost
        model.offset_ = lp.objective.constant
        model.col_lower_ = _limits((v.lowBound for v in variables), -1)
        model.col_upper_ = _limits((v.upBound for v in variables), 1)
        model.integrality_ = [
            highspy.HighsVarType.kInteger if v.cat == pulp.LpInteger
            else highspy.HighsVarType.kContinuous for v in variables]
        _add_rows(model, lp.constraints())
        self.program = model
        lp.solverModel.passModel(model)
        if self._start:
            lp.solverModel.setSolution(
                len(self._start),
                np.array([v.index for v in self._start], dtype=np.int32),
                np.array(list(self._start.values()), dtype=np.float64))

    def findSolutionValues(self, lp):
        values = lp.solverModel.getSolution().col_value
        if lp.solverModel.getSolution().value_valid:
            for variable in lp.variables():
                variable.varValue = values[variable.index]
        return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound


class HiGHS(Backend):
    """The solver HiGHS, which is the default. It is fast, proves bounds and
    supports a warm start."""

    name: ClassVar[str] = 'highs'
    overhead_per_variable: ClassVar[float] = 3e-5

    def solve(self, problem: LpProblem, *, seconds: float, gap: float,
              start: Mapping[LpVariable, float] | None = None) -> Outcome:
        options = {
            'gapRel': gap, 'gapAbs': 0.0 if gap == 0 else 1e-6,
            'mip_max_start_nodes': limits().nodes, **SAFE_OPTIONS}
        found, left = _run(problem, start, seconds, options)
        if found.status is Status.INFEASIBLE and is_ill_conditioned(problem):
            # Presolve may consider slightly different numbers equal.
            found, _ = _run(problem, start, left,
                            {**options, 'presolve': 'off'})
        return found

    def solve_again(self, problem: LpProblem, *, seconds: float) -> Outcome:
        found, _ = _run(problem, None, seconds, {**SAFE_OPTIONS, **_OTHER})
        if found.status is Status.NOTHING and not is_ill_conditioned(problem):
            # Rounding errors cannot have caused the first answer.
            return Outcome(Status.INFEASIBLE)
        return found


_OTHER = {'presolve': 'off', 'simplex_strategy': 4, 'random_seed': 1}
"""Options of another method: the primal simplex algorithm without
presolve."""


def _run(problem: LpProblem, start: Mapping[LpVariable, float] | None,
         seconds: float, options: Mapping) -> tuple[Outcome, float]:
    """Return the outcome and the remaining seconds.

    HiGHS checks its time limit only between passes of presolve, and one pass
    over a large program takes long. Therefore, HiGHS is not started if no time
    is left.
    """
    if seconds <= 0:
        return Outcome(Status.NOTHING), 0.0
    driver = _InProcess(start, timeLimit=max(seconds, 0.01), **options)
    driver.actualSolve(problem)
    model = problem.solverModel
    problem.solverModel = None
    return (_outcome(model, driver.program, problem),
            seconds - model.getRunTime())


def _outcome(model: highspy.Highs, program: highspy.HighsLp,
             problem: LpProblem) -> Outcome:
    status = model.getModelStatus()
    known = highspy.HighsModelStatus
    if status == known.kInfeasible or (
            # A program with only bounded variables cannot be unbounded.
            status == known.kUnboundedOrInfeasible and all(
                v.lowBound is not None and v.upBound is not None
                for v in problem.variables())):
        return Outcome(Status.INFEASIBLE)
    if status == known.kModelEmpty:
        # HiGHS returns the bound 0 for a program without variables.
        return Outcome(Status.OPTIMAL, problem.objective.constant)
    whole = any(v.cat == pulp.LpInteger for v in problem.variables())
    if status == known.kOptimal and not whole:
        return Outcome(Status.OPTIMAL, _dual_bound(
            program, np.array(model.getSolution().row_dual)))
    return outcome(model, whole)


def _dual_bound(program: highspy.HighsLp, duals: np.ndarray) -> float | None:
    """Bound of a program without integer variables, from its duals.

    :param program: the original program, with the small coefficients that
        HiGHS removes
    """
    matrix = program.a_matrix_
    starts = np.array(matrix.start_)
    found = DualProgram(
        np.array(program.col_cost_),
        np.repeat(np.arange(program.num_row_), np.diff(starts)),
        np.array(matrix.index_, dtype=np.int64), np.array(matrix.value_),
        np.array(program.row_lower_), np.array(program.row_upper_)).bound(
            duals, np.array(program.col_lower_),
            np.array(program.col_upper_))
    return None if found is None else found + program.offset_


def _limits(bounds, sign: int) -> np.ndarray:
    return np.array([sign * highspy.kHighsInf if b is None else b
                     for b in bounds], dtype=np.float64)


def _add_rows(model: highspy.HighsLp, constraints: list) -> None:
    start, index, value = [0], [], []
    for constraint in constraints:
        for variable, coefficient in constraint.items():
            index.append(variable.index)
            value.append(coefficient)
        start.append(len(index))
    model.num_row_ = len(constraints)
    model.row_lower_ = _limits((c.getLb() for c in constraints), -1)
    model.row_upper_ = _limits((c.getUb() for c in constraints), 1)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array(start, dtype=np.int32)
    model.a_matrix_.index_ = np.array(index, dtype=np.int32)
    model.a_matrix_.value_ = np.array(value, dtype=np.float64)
