# SPDX-License-Identifier: Apache-2.0
"""One step of the large-neighbourhood search: some members are freed, all
others stay, and a program of some hosts searches for a better plan."""

from collections.abc import Collection, Mapping
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Scope
from nova_holistic.solver.evaluation.policy_evaluation import (
    distinguished_levels)
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.milp.backend import Backend, Status
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.milp.solver_calls import SolverCalls
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.subproblem import Freed, Subproblem


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a step.

    :ivar is_better: whether the incumbent has a better plan now
    :ivar is_complete: whether the program was solved within its time
    :ivar effort: size of the program; a measure that is independent of time
    """

    is_better: bool
    is_complete: bool
    effort: float


@dataclass(frozen=True, slots=True)
class Part:
    """The members and hosts that a step may change.

    :ivar freed: paths of the freed members
    :ivar hosts: indexes of the hosts that they may use, including those that
        they leave
    :ivar is_for_preferences: whether to minimise preferences instead of the
        objective
    """

    freed: Collection[str]
    hosts: np.ndarray
    is_for_preferences: bool


def step(plan: PlanView, part: Part, context: 'StepContext') -> Outcome:
    """Search for a better plan, and store it in the incumbent.

    :raises OutOfTime: if the program is not built within the time limit
    """
    case = _case(plan, part, context)
    program = Program(case, plan.incumbent.objective, context.deadline,
                      _places(case, plan, part.freed))
    start = plan.incumbent.counts(case)
    _fix(program, case, plan, part.freed)
    calls = SolverCalls(case, plan.incumbent.objective, context.backend,
                        context.deadline)
    if not calls.offer(start):
        return Outcome(False, True, program.size)
    _minimise(program, plan, part)
    outcome = calls.solve(program, context.share(), plan.incumbent.gap / 4)
    plan.incumbent.solving += calls.solving
    better = calls.best is not start and plan.incumbent.offer(
        _placement(case, plan, part, calls.best))
    return Outcome(better, outcome.status is not Status.NOTHING
                   and outcome.status is not Status.FEASIBLE, program.size)


@dataclass(frozen=True, slots=True)
class StepContext:
    """Data that all steps share.

    :ivar table: table of all hosts
    :ivar rows: rows of all policies; None if they are too many to be kept
    """

    table: HostTable
    rows: RowsByPlace | None
    backend: Backend
    deadline: Deadline
    settings: Improvement

    def share(self) -> float:
        """Share of the remaining time for one program."""
        left = self.deadline.left()
        return min(self.settings.share,
                   self.settings.seconds / left if left else 0.0)


def _case(plan: PlanView, part: Part, context: StepContext) -> Case:
    """The case of the hosts, and of the policies that apply to a freed member.
    Members on other hosts stay; their demand is irrelevant because no member
    moves there.
    """
    incumbent, index = plan.incumbent, context.table.index
    inside = {*part.hosts.tolist()}
    fixed = {path: plan.where[path].name for path in plan.movable
             if index[plan.where[path].name] not in inside}
    known = np.array(sorted(inside.union(
        index[host.name] for host in plan.where.values())), dtype=np.int64)
    table = context.table if context.rows is None else context.rows.table
    return Case.of(incumbent.group, incumbent.snapshot,
                   {**incumbent.placed, **fixed}, context.deadline.check,
                   Subproblem(table.part(known),
                              _freed(plan, part, context.rows)))


def _freed(plan: PlanView, part: Part, rows: RowsByPlace | None) -> Freed:
    """The freed members with their policies. Policies that apply to none of
    them remain satisfied, and their cost does not change."""
    incumbent = plan.incumbent
    members = tuple(m for m in incumbent.members if m.path in part.freed)
    scope = Scope('', incumbent.group, members)
    policies = tuple(
        each for each in incumbent.policies
        if any(distinguished_levels(each, member) != {} for member in members))
    if rows is None:
        return Freed(scope, policies)
    return Freed(scope, policies, rows.about(members, part.hosts, policies),
                 rows.rules)


def _placement(case: Case, plan: PlanView, part: Part, counts: Counts
               ) -> Mapping[str, Host]:
    """The new placement; only freed members may have other hosts than before.
    """
    found = case.placement(counts)
    return {path: found[path] if path in part.freed else host
            for path, host in plan.where.items()}


def _places(case: Case, plan: PlanView, freed: Collection[str]) -> np.ndarray:
    """[class, host]: hosts of fixed members, and hosts that freed members may
    use."""
    mask = np.zeros(case.room.shape, dtype=bool)
    settled = {h for path, h in case.placed.items()
               if path not in plan.incumbent.placed}
    free = np.ones(len(case.table), dtype=bool)
    free[sorted(settled)] = False
    for c, each in enumerate(case.classes):
        if any(m.path in freed for m in each.members):
            mask[c] = free & (case.room[c] > 0)
        for m in each.members:
            mask[c, case.table.index[plan.where[m.path].name]] = True
    return mask


def _fix(program: Program, case: Case, plan: PlanView,
         freed: Collection[str]) -> None:
    """Fix the members that are not freed to their hosts."""
    for c, each in enumerate(case.classes):
        fixed = Counter(
            case.table.index[plan.where[m.path].name]
            for m in each.members if m.path not in freed)
        movable = sum(m.path in freed for m in each.members)
        for host, variable in program.x[c].items():
            here = fixed[host]
            variable.lowBound = here
            variable.upBound = min(int(program.limits[c, host]),
                                   here + movable)


def _minimise(program: Program, plan: PlanView, part: Part) -> None:
    """Minimise preferences, or the objective within the cost of preferences.
    """
    if part.is_for_preferences:
        program.minimise_preferences()
        return
    if program.preferences:
        program.limit_preferences(preference_cost(
            program.case.policies, plan.where, plan.incumbent.snapshot))
    program.minimise_cost()
