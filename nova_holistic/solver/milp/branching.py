# SPDX-License-Identifier: Apache-2.0
"""Linear programs with a few integer variables.

Branch and bound over one linear program, which is solved repeatedly from its
last basis. For a few integer variables, this takes a fraction of the time that
a solver of integer programs needs for its preparation.
"""

from collections.abc import Callable
import heapq

import highspy
import numpy as np

from nova_holistic.solver.limits.current import milp as current_limits
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import BOUND_DIGITS, INTEGRALITY

Branches = tuple[tuple[int, float, float], ...]
"""The branches of a node: index of an integer variable, and its lower and
upper limit."""


class Branching:
    """Branch and bound over some integer variables of a linear program.

    :param is_integer: [variable]: whether the variable is an integer
    :ivar solution: [variable]: the best known solution; if none is known, the
        solution without integrality. ``program.duals`` has its duals
    """

    def __init__(self, program: Linear, is_integer: np.ndarray):
        self._integers = np.flatnonzero(is_integer)
        self._program = program
        self._model = program.loaded()
        self._dual = program.dual()
        self._limits = program.lower_limits(), program.upper.astype(float)
        self._binary = self._limits[1][self._integers] <= 1
        self._best = float('inf')
        self.solution = np.zeros(len(program.cost))

    def solve(self, gap: float, left: Callable[[], float],
              nodes: int | None = None) -> Outcome:
        """Minimise the cost of the program.

        :param gap: relative gap between value and bound that is good enough
        :param left: a function that returns the remaining seconds
        :param nodes: maximum number of nodes; None means the limit
        """
        # Lower bounds of open nodes; ``low`` is the bound of pruned nodes.
        heap: list[tuple[float, int, Branches]] = [(-np.inf, 0, ())]
        low, number = np.inf, 0
        for _ in range(nodes or current_limits().nodes):
            if not heap or heap[0][0] >= self._cutoff(gap) or (
                    number and not left()):
                break
            above, _, branches = heapq.heappop(heap)
            value = self._solve_node(branches, left())
            if value is None:
                heapq.heappush(heap, (above, 0, branches))
                break
            if value >= self._cutoff(gap):
                low = min(low, value)
                continue
            split = self._fraction()
            if split is None or not branches:
                found = self._model.getSolution()
                self.solution = np.array(found.col_value)
                self._program.duals = np.array(found.row_dual)
            if split is None:
                self._best = value
                continue
            # Among equally good nodes, the latest comes first.
            index, below = split
            for branch in ((index, -np.inf, below),
                           (index, below + 1.0, np.inf)):
                number -= 1
                heapq.heappush(heap, (round(value, BOUND_DIGITS), number,
                                      (*branches, branch)))
        bound = min(low, self._best, *(
            each[0] - 10.0 ** -BOUND_DIGITS for each in heap))
        return self._outcome(bound, not heap or (
            heap[0][0] >= self._cutoff(gap)))

    def _outcome(self, bound: float, done: bool) -> Outcome:
        known = bound if np.isfinite(bound) else None
        if done:
            return Outcome(Status.OPTIMAL if self._best < np.inf
                           else Status.INFEASIBLE, known)
        return Outcome(Status.NOTHING if known is None
                       else Status.FEASIBLE, known)

    def _cutoff(self, gap: float) -> float:
        return self._best - gap * abs(self._best) if (
            self._best < np.inf) else np.inf

    def _solve_node(self, branches: Branches, seconds: float) -> float | None:
        """Lower bound of the cost of solutions within these limits. Infinite
        if no solution exists, None if nothing is proved in time."""
        lower, upper = (limits[self._integers] for limits in self._limits)
        for number, least, most in branches:
            lower[number] = max(lower[number], least)
            upper[number] = min(upper[number], most)
        if (lower > upper).any():
            return np.inf
        model = self._model
        model.changeColsBounds(len(self._integers),
                               self._integers.astype(np.int32), lower, upper)
        model.setOptionValue('time_limit', max(
            0.01, seconds) + model.getRunTime())
        model.run()
        status = model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return np.inf
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        every_lower, every_upper = (limits.copy() for limits in self._limits)
        every_lower[self._integers] = lower
        every_upper[self._integers] = upper
        return self._dual.bound(np.array(model.getSolution().row_dual),
                                every_lower, every_upper)

    def _fraction(self) -> tuple[int, float] | None:
        """Index of the fractional variable with the largest value, and this
        value, rounded down; None if all are integral. Binary variables come
        first, because they decide more."""
        values = np.array(self._model.getSolution().col_value)[self._integers]
        off = np.abs(values - np.round(values))
        if off.max(initial=0.0) <= INTEGRALITY:
            return None
        off = np.where(off > INTEGRALITY, values, -1.0)
        binary = np.where(self._binary, off, -1.0)
        index = int(np.argmax(binary if binary.max() > 0 else off))
        return index, float(np.floor(values[index]))
