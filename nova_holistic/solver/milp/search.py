# SPDX-License-Identifier: Apache-2.0
"""Search for the best plan within the time limit, from a greedy start."""

from collections.abc import Callable
import contextlib

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.solver.construct.greedy import greedy
from nova_holistic.solver.limits.current import milp as limits
from nova_holistic.solver.limits.current import phases as phases_limits
from nova_holistic.solver.milp.backend import Backend, Status
from nova_holistic.solver.milp.dominated_hosts import needed_places, with_plan
from nova_holistic.solver.milp.least_cost import least_preferences
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.milp.solver_calls import SolverCalls
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.numerics.tolerances import BOUND_ERROR
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.feasibility import Feasibility
from nova_holistic.solver.problem.search_status import SearchStatus


class Search(SolverCalls):
    """Minimises preferences first, and then the objective within their cost.

    :ivar least: lower bound of the cost of preferences
    """

    def __init__(self, case: Case, objective: Objective, backend: Backend,
                 deadline: Deadline, gap: float,
                 all_places: bool = False):
        """:param all_places: whether the program contains dominated hosts, and
            places beyond ``milp.whole_places``
        """
        super().__init__(case, objective, backend, deadline)
        self._gap = gap
        self._all_places = all_places
        self.least = 0.0
        self._needed = case.room > 0

    def run(self, start: Counts | None = None,
            within: Callable[[float], float | None] = lambda cost: None,
            incumbent: Counts | None = None) -> SearchStatus:
        """Search for the best plan of a case of all hosts.

        :param start: counts that may be a plan, or None
        :param within: returns the bound of the objective for plans whose
            preferences cost at most the given cost; None if nothing is proved
        :param incumbent: a plan; None if no plan is known yet
        :returns: INFEASIBLE only if it is proved that no plan exists
        """
        status, known = SearchStatus.FEASIBLE, None
        try:
            if not self.offer(incumbent):
                self.offer(greedy(
                    self.case, self._objective, self._deadline))
            self.offer(start)
            if self.best is not None:
                known = self.bound = within(self.plan_cost[0])
            if self._proved():
                return SearchStatus.OPTIMAL
            status = self._solve_whole()
            # A bound for more plans also holds for fewer plans.
            better = within(self.plan_cost[0]) if self.best else None
            known = known if better is None else max(better, known or 0.0)
        except OutOfTime:
            pass
        if self.best is None and status is SearchStatus.INFEASIBLE:
            status = self._confirm_infeasible()
        if self.best is None:
            return (status if status is SearchStatus.INFEASIBLE
                    else SearchStatus.NO_RESULT)
        self.bound = max(known or 0.0, self.bound or 0.0)
        return SearchStatus.OPTIMAL if self._proved() else status

    def _proved(self) -> bool:
        """Whether it is proved that no plan is better than the best one known.
        """
        return self.bound is not None and self.plan_cost[0] == 0 and (
            self.plan_cost[1] <= bounds.safe(self._objective, self.bound))

    def improve(self, start: Counts | None, least: float,
                within: Callable[[float], float | None],
                is_known: bool = False) -> SearchStatus:
        """Search for the best plan of a case with some hosts of a larger
        problem.

        :param start: counts that may be a plan, or None
        :param least: lower bound of the cost of preferences
        :param within: returns the bound of the objective for plans whose
            preferences cost at most the given cost; None if nothing is proved
        :param is_known: whether a plan for the larger problem is known; if it
            is, no program is solved only to find any plan
        :returns: NO_RESULT if no plan was found; a proof for some hosts is not
            a proof for all hosts
        """
        self.least = least
        status = SearchStatus.FEASIBLE
        try:
            if not self.offer(start):
                self.offer(greedy(
                    self.case, self._objective, self._deadline))
            if self.best is None and (
                    is_known or self._any_plan() is Status.INFEASIBLE):
                return SearchStatus.NO_RESULT
            # A bound for more plans also holds for fewer plans.
            self.bound = within(self.plan_cost[0])
            needed = self.case.room > 0
            if needed.sum() <= limits().whole_places and (
                    not self.preferred() or self.bound is None
                    or self._is_far()):
                program = Program(self.case, self._objective, self._deadline,
                                  needed)
                status = self._solve_used(
                    program, limits().exact_variables) if is_known else (
                        self._solve(program))
        except OutOfTime:
            pass
        if self.best is None:
            return SearchStatus.NO_RESULT
        known = within(self.plan_cost[0])
        self.bound = self.bound if known is None else known
        return status

    def complete(self, start: Counts | None, least: float) -> SearchStatus:
        """Search for a better plan of a case of all hosts with few places, by
        one program of all of them, and prove its bound.

        :param start: counts of a plan
        :param least: lower bound of the cost of preferences
        """
        self.least = least
        try:
            if self.offer(start):
                return self._solve_used(Program(
                    self.case, self._objective, self._deadline),
                    limits().searched_variables)
        except OutOfTime:
            pass
        return SearchStatus.NO_RESULT

    def relax(self, start: Counts | None) -> None:
        """Prove a bound of a case of all hosts by the linear relaxation of one
        program of all of them.

        :param start: counts of a plan
        """
        with contextlib.suppress(OutOfTime):
            if self.offer(start):
                self._relax(Program(self.case, self._objective,
                                    self._deadline), 1.0)

    def preferred(self) -> bool:
        """Whether the cost of preferences is minimal or within the gap."""
        return bounds.is_preferred(self.plan_cost[0], self.least, self._gap)

    def _is_far(self) -> bool:
        """Whether the plan is so far from the bound that a program of the
        chosen hosts is worthwhile."""
        lower = bounds.safe(self._objective, self.bound)
        return not self.good_enough() and (
            bounds.gap(self.plan_cost[1], lower) > limits().far_gap)

    def _solve_used(self, program: Program, most: int) -> SearchStatus:
        """Solve a program, of a case of which a plan is known. If it has more
        than ``most`` variables, solve its linear relaxation, and then a
        program of only the hosts that this relaxation or the plan uses, which
        leads to better plans in a short time.
        """
        if program.size <= most:
            return self._solve(program)
        used = np.zeros(len(self.case.table), dtype=bool)
        if self._relax(program, phases_limits().main_share):
            used[[*program.used_hosts()]] = True
        for host_counts in self.best:
            used[[*host_counts]] = True
        return self._solve(Program(self.case, self._objective, self._deadline,
                                   (self.case.room > 0) & used))

    def _solve_whole(self) -> SearchStatus:
        if not self._all_places:
            self._needed = needed_places(self.case, self._objective,
                                         self._deadline.check)
        if self.best is None and self._any_plan() is Status.INFEASIBLE:
            return self._no_plan()
        if self.best is not None and not self._all_places and (
                self._needed.sum() > limits().whole_places):
            return SearchStatus.FEASIBLE
        program = Program(self.case, self._objective, self._deadline,
                          with_plan(self._needed, self.best), True)
        if self.best is None or program.size < limits().exact_variables:
            return self._solve(program)
        self._relax(program, phases_limits().bound_share)
        if program.size > limits().searched_variables or self.good_enough():
            return SearchStatus.FEASIBLE
        return self._solve(program, phases_limits().attempt_share)

    def _relax(self, program: Program, share: float) -> bool:
        """Solve the linear relaxation of the program, add its bound, and
        return whether it is solved.

        :param share: share of the remaining time
        """
        if program.preferences:
            program.limit_preferences(self.plan_cost[0])
        program.minimise_cost()
        outcome = self.solve_relaxation(program, share)
        if outcome.status is not Status.OPTIMAL:
            return False
        if outcome.bound is not None and program.whole:
            self._add_bound(outcome.bound * program.cost_unit)
        return True

    def _confirm_infeasible(self) -> SearchStatus:
        """The status after another method of the solver has searched for any
        plan."""
        try:
            program = self._hard_program()
        except OutOfTime:
            return SearchStatus.INFEASIBLE
        outcome = self._backend.solve_again(
            program.problem,
            seconds=phases_limits().attempt_share * self._deadline.for_solver(
                self._backend.overhead_per_variable * program.size))
        if outcome.solved and self.offer(program.read()):
            return SearchStatus.FEASIBLE
        return (SearchStatus.INFEASIBLE if outcome.status is Status.INFEASIBLE
                else SearchStatus.NO_RESULT)

    def _any_plan(self) -> Status:
        """Find any plan. A program of only the hard policies, without an
        objective, is solved much faster than the complete program."""
        return self.solve(self._hard_program(), 1.0, 0.0).status

    def _hard_program(self) -> Program:
        hard = self.case.under([
            each for each in self.case.policies if each.policy.hard])
        program = Program(hard, Feasibility(), self._deadline)
        program.minimise_cost()
        return program

    def good_enough(self) -> bool:
        """Whether the best plan is within the requested gap."""
        return self.preferred() and self.bound is not None and (
            bounds.is_close(self._objective, self.plan_cost[1], self.bound,
                            self._gap))

    def _solve(self, program: Program, part: float = 1.0) -> SearchStatus:
        """Minimise violated preferences first, and then the objective.

        :param part: share of the remaining time for each program
        """
        gap = 0.0 if program.size < limits().exact_variables else self._gap
        first = Status.OPTIMAL
        if program.preferences and self.plan_cost[0] > 0:
            share = part * (1.0 if self.best is None
                            else phases_limits().program_share)
            first = least_preferences(self, program, share, gap == 0)
            if first is Status.OPTIMAL and program.whole:
                self.least = self.plan_cost[0]
            if first is Status.INFEASIBLE:
                return self._no_plan()
        if self.best is not None and program.preferences:
            program.limit_preferences(self.plan_cost[0])
        program.minimise_cost()
        outcome = self.solve(program, part, gap)
        if outcome.status is Status.INFEASIBLE:
            return self._no_plan()
        if outcome.bound is not None and program.whole:
            self._add_bound(outcome.bound * program.cost_unit)
        if self.best is None:
            return SearchStatus.NO_RESULT
        proved = first is outcome.status is Status.OPTIMAL and gap == 0
        return SearchStatus.OPTIMAL if proved and self._reaches(
            outcome.bound, program.cost_unit) else SearchStatus.FEASIBLE

    def _reaches(self, bound: float | None, unit: float) -> bool:
        """Whether the value of the best plan, as the objective computes it,
        reaches a solver's bound."""
        value = self.plan_cost[1]
        return bound is not None and value - bound * unit <= (
            BOUND_ERROR * max(unit, abs(value)))

    def _no_plan(self) -> SearchStatus:
        # A known plan that passed every check overrides the solver's result.
        return (SearchStatus.INFEASIBLE if self.best is None
                else SearchStatus.FEASIBLE)
