# SPDX-License-Identifier: Apache-2.0
"""CBC, as bundled with PuLP: an alternative solver in a separate process."""

from collections.abc import Mapping
import math
import pathlib
import re
import subprocess
import tempfile
from typing import ClassVar
import warnings

import pulp
from pulp import LpProblem, LpVariable

from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.milp.backend import Backend, Outcome, Status
from nova_holistic.solver.milp.ill_conditioned import is_ill_conditioned
from nova_holistic.solver.numerics.tolerances import CBC_BOUND_ERROR

_BOUND = re.compile(r'^Lower bound:\s+(\S+)', re.MULTILINE)


class _Stoppable(pulp.PULP_CBC_CMD):
    """PuLP's driver of CBC, with a different way to run the process.

    CBC checks its time limit only occasionally. If it exceeds the limit by
    more than ``cbc_grace`` seconds, the process is killed.
    """

    def run(self, problem: LpProblem, place: pathlib.Path) -> None:
        model, start, answer = (
            str(place / name) for name in ('model.mps', 'start', 'answer'))
        variables, names, rows, _ = problem.writeMPS(model, rename=1)
        command = [self.path, model]
        if self.optionsDict.get('warmStart'):
            self.writesol(start, problem, variables, names, rows)
            command += ['-mips', start]
        command += ['-sec', str(self.timeLimit)]
        for option in self.getOptions():
            command += f'-{option}'.split()
        # Preprocessing removed optimal solutions of small programs with costs
        # that are piecewise linear (CBC 2.10.3).
        command += ['-preprocess', 'off']
        command += ['-solve', '-printingOptions', 'all', '-solution', answer]
        with open(place / 'log', 'wb') as log:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                check=True, timeout=self.timeLimit + limits().cbc_grace)
        status, values, _, _, _, solution = self.readsol_MPS(
            answer, problem, variables, names, rows)
        problem.assignVarsVals(values)
        problem.assignStatus(status, solution)


class CBC(Backend):
    """The solver CBC. It is slower than HiGHS, and its bound is only available
    in its log."""

    name: ClassVar[str] = 'cbc'
    overhead_per_variable: ClassVar[float] = 1e-4

    def solve(self, problem: LpProblem, *, seconds: float, gap: float,
              start: Mapping[LpVariable, float] | None = None) -> Outcome:
        if seconds <= 0:
            return Outcome(Status.NOTHING)
        if start:
            for variable in problem.variables():
                variable.varValue = start.get(variable, 0)
        with tempfile.TemporaryDirectory(prefix='nova-holistic-') as place:
            log = pathlib.Path(place, 'log')
            with warnings.catch_warnings():
                # PuLP warns that its release 4 will not bundle CBC.
                warnings.simplefilter('ignore', DeprecationWarning)
                driver = _Stoppable(
                    msg=False, timeLimit=max(seconds, 0.01), gapRel=gap,
                    gapAbs=0.0 if gap == 0 else 1e-6,
                    warmStart=bool(start))
            try:
                driver.run(problem, pathlib.Path(place))
            except (subprocess.SubprocessError, OSError):
                # CBC was killed or ran out of memory, so there is no result.
                return Outcome(Status.NOTHING)
            text = log.read_text(errors='replace')
        return _outcome(problem, text)


def _outcome(problem: LpProblem, log: str) -> Outcome:
    if problem.status == pulp.LpStatusInfeasible:
        return Outcome(Status.NOTHING if is_ill_conditioned(problem)
                       else Status.INFEASIBLE)
    found = _BOUND.search(log)
    # The bound in the log does not include the constant of the objective.
    bound = (float(found.group(1)) - CBC_BOUND_ERROR
             + problem.objective.constant) if found else None
    if bound is not None and not math.isfinite(bound):
        bound = None
    if problem.sol_status == pulp.LpSolutionOptimal:
        # CBC gives no value to a variable that PuLP adds to an empty program.
        value = problem.objective.constant + sum(
            coefficient * (variable.varValue or 0)
            for variable, coefficient in problem.objective.items())
        return Outcome(Status.OPTIMAL, value if bound is None else bound)
    if problem.sol_status == pulp.LpSolutionIntegerFeasible:
        return Outcome(Status.FEASIBLE, bound)
    return Outcome(Status.NOTHING, bound)
