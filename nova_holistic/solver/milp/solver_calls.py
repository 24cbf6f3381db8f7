# SPDX-License-Identifier: Apache-2.0
"""Calls of the solver that keep the best plan."""

from nova_holistic.model.objective import Objective
from nova_holistic.solver.milp.backend import Backend, Outcome, Status
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline


class SolverCalls:
    """One case, with the best known plan and bound.

    :ivar best: the best plan so far; None if no plan is known
    :ivar plan_cost: its cost of preferences and its value; infinite if no plan
        is known
    :ivar bound: lower bound of the objective, for plans whose cost of
        preferences is at most that of ``best``; None if nothing is proved
    :ivar solving: seconds spent in the solver
    """

    def __init__(self, case: Case, objective: Objective, backend: Backend,
                 deadline: Deadline):
        self.best: Counts | None = None
        self.bound: float | None = None
        self.solving = 0.0
        self.case = case
        self._objective = objective
        self._backend = backend
        self._deadline = deadline
        self.plan_cost = (float('inf'), float('inf'))
        self._placed = {path: case.table.hosts[h].name
                        for path, h in case.placed.items()}

    def solve(self, program: Program, share: float, gap: float) -> Outcome:
        """Solve a program; a good solution becomes the best plan.

        If amounts differ by many orders of magnitude, tolerances may admit a
        solution that exceeds the capacity of a host. Such a solution is
        forbidden, and the program is solved again until the time ends.

        :param share: share of the remaining time
        :param gap: relative gap between value and bound at which to stop
        :returns: the outcome; NOTHING if the solution is not a plan
        """
        end = self._deadline.elapsed() + share * self._deadline.for_solver(
            self._backend.overhead_per_variable * program.size)
        while True:
            started = self._deadline.elapsed()
            outcome = self._backend.solve(
                program.problem, seconds=end - started, gap=gap,
                start=program.start(self.best) if self.best else None)
            self.solving += self._deadline.elapsed() - started
            if not outcome.solved:
                return outcome
            counts = program.read()
            if self.offer(counts):
                return outcome
            overfull = {host for host, _ in self.case.overfull(counts)}
            if not overfull or self._deadline.elapsed() >= end:
                return Outcome(Status.NOTHING)
            for host in overfull:
                program.forbid(host, counts)

    def solve_relaxation(self, program: Program,
                         share: float) -> Outcome:
        """Solve the linear relaxation of the program.

        :param share: share of the remaining time
        """
        started = self._deadline.elapsed()
        with program.linear():
            outcome = self._backend.solve(
                program.problem, gap=0.0,
                seconds=share * self._deadline.for_solver(
                    self._backend.overhead_per_variable * program.size))
        self.solving += self._deadline.elapsed() - started
        return outcome

    def offer(self, counts: Counts | None) -> bool:
        """Keep the counts if they are a better plan. Return whether they are a
        plan that satisfies the hard policies."""
        if counts is None or not self.case.fits(counts):
            return False
        placement = self.case.placement(counts)
        if self.case.violates_policy(placement):
            return False
        plan_cost = (self.case.preference_cost(placement),
                     self._objective.value(self.case.members, placement,
                                           self._placed, self.case.snapshot))
        if plan_cost < self.plan_cost:
            self.best, self.plan_cost = counts, plan_cost
        return True

    def _add_bound(self, bound: float) -> None:
        """Add a bound; earlier bounds remain valid."""
        self.bound = bound if self.bound is None else max(self.bound, bound)
