# SPDX-License-Identifier: Apache-2.0
"""One step: some members are freed, all others stay, and a program of the
hosts that matter looks for a better plan."""

from collections.abc import Collection, Mapping
from collections import Counter
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Scope
from nova_holistic.model.snapshot import Host
from nova_holistic.solver.evaluation.policy_evaluation import (
    distinguished_levels)
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.milp.backend import Backend, Status
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.milp.solver_calls import SolverCalls
from nova_holistic.solver.problem.case import Case, Counts, Freed
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.preference_cost import preference_cost


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step came to.

    :ivar is_better: whether the incumbent has a better plan now
    :ivar is_complete: whether the program was solved within its time
    :ivar effort: size of the program: a measure that is no time
    """

    is_better: bool
    is_complete: bool
    effort: float


@dataclass(frozen=True, slots=True)
class Part:
    """What a step may change.

    :ivar freed: paths of the freed members
    :ivar hosts: indexes of the hosts that they may use; those that they leave
        are among them
    :ivar is_for_preferences: whether preferences are minimised, and not the
        objective
    """

    freed: Collection[str]
    hosts: np.ndarray
    is_for_preferences: bool


def step(plan: PlanView, part: Part, context: 'StepContext') -> Outcome:
    """Look for a better plan, which the incumbent receives.

    :raises OutOfTime: the program was not written down in time
    """
    case = _case(plan, part, context)
    program = Program(case, plan.incumbent.objective, context.deadline,
                      _places(case, plan, part.freed))
    start = plan.incumbent.counts(case)
    _fix(program, case, plan, part.freed)
    calls = _Step(case, plan.incumbent.objective, context.backend,
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
    """What steps are made with.

    :ivar table: of all hosts
    :ivar rows: of all policies; None if they are too many to be kept
    """

    table: HostTable
    rows: RowsByPlace | None
    backend: Backend
    deadline: Deadline
    settings: Improvement

    def share(self) -> float:
        """Of the time left, for one program."""
        left = self.deadline.left()
        return min(self.settings.share,
                   self.settings.seconds / left if left else 0.0)


class _Step(SolverCalls):
    """Questions about one part of the members."""

    def offer(self, counts: Counts | None) -> bool:
        return self._offer(counts)


def _case(plan: PlanView, part: Part, context: StepContext) -> Case:
    """A case of the hosts, and of the policies that see a freed member.
    Members elsewhere stay: what they take is no matter, as nobody joins them.
    """
    incumbent, index = plan.incumbent, context.table.index
    inside = {*part.hosts.tolist()}
    stay = {path: plan.where[path].name for path in plan.movable
            if index[plan.where[path].name] not in inside}
    known = np.array(sorted(inside.union(
        index[host.name] for host in plan.where.values())), dtype=np.int64)
    table = context.table if context.rows is None else context.rows.table
    return Case.of(incumbent.group, incumbent.snapshot,
                   {**incumbent.placed, **stay}, context.deadline.check,
                   table.part(known), _freed(plan, part, context.rows))


def _freed(plan: PlanView, part: Part, rows: RowsByPlace | None) -> Freed:
    """A policy that sees no freed member is kept, and costs the same."""
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
    """Only freed members have other hosts than before."""
    found = case.placement(counts)
    return {path: found[path] if path in part.freed else host
            for path, host in plan.where.items()}


def _places(case: Case, plan: PlanView, freed: Collection[str]) -> np.ndarray:
    """[class, host]: where a freed member may go, or a fixed one is."""
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
    """Members that are not freed stay on their hosts."""
    for c, each in enumerate(case.classes):
        stay = Counter(
            case.table.index[plan.where[m.path].name]
            for m in each.members if m.path not in freed)
        movable = sum(m.path in freed for m in each.members)
        for host, variable in program.x[c].items():
            here = stay[host]
            variable.lowBound = here
            variable.upBound = min(int(program.limits[c, host]),
                                   here + movable)


def _minimise(program: Program, plan: PlanView, part: Part) -> None:
    """Either preferences, or the objective with preferences no worse."""
    if part.is_for_preferences:
        program.minimise_preferences()
        return
    if program.preferences:
        program.limit_preferences(preference_cost(
            program.case.policies, plan.where, plan.incumbent.snapshot))
    program.minimise_cost()
