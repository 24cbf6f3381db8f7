# SPDX-License-Identifier: Apache-2.0
"""Computes a plan for a group and a snapshot, or reasons why none exists."""

from collections.abc import Mapping, Sequence
import contextlib
from dataclasses import dataclass, replace

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.objectives import load_objective
from nova_holistic.solver.confined.set_plans import plan_by_sets
from nova_holistic.solver.construct.first_plan import (
    first_plan, late_plan, until_first_plan)
from nova_holistic.solver.construct.insertion import insert_members
from nova_holistic.solver.diagnosis.contradiction import propagated
from nova_holistic.solver.diagnosis.find_reasons import find_reasons
from nova_holistic.solver.diagnosis.relaxation import has_no_plan
from nova_holistic.solver.garbage import few_collections
from nova_holistic.solver.limits.current import (
    construct as construct_limits, limits as all_limits, phases as limits,
    using)
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.observer import Answer, notify_observers, Question
from nova_holistic.solver.phases.all_hosts import (
    has_fewest_hosts, search_all_hosts, search_needed_hosts)
from nova_holistic.solver.phases.better_plan import find_better_plan
from nova_holistic.solver.phases.chosen_hosts import plan_on_chosen_hosts
from nova_holistic.solver.phases.domain_plan import (
    has_costs_of_domains, plan_by_domains)
from nova_holistic.solver.phases.host_relaxation import late_bound
from nova_holistic.solver.phases.preferred_plan import (
    adopt, choose_hosts, is_small, with_hard_preferences)
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.search_status import SearchStatus
from nova_holistic.solver.processor import one_processor
from nova_holistic.solver.result import (
    Proof, proved_plan, seconds_by_step, unknown)
from nova_holistic.solver.settings import DEFAULT, Settings, Strategy
from nova_holistic.solver.trees.tree_plans import plan_on_trees
from nova_holistic.solver.trees.tree_problem import tree_problem

_JOIN = (Strategy.AUTO, Strategy.INSERTION)
"""Strategies that insert few new members without a program."""

_IMPROVE = (Strategy.AUTO, Strategy.INSERTION, Strategy.NEIGHBOURHOODS)
"""Strategies that improve a plan until it is good enough."""

_CHOOSE_HOSTS = (Strategy.AUTO, Strategy.INSERTION, Strategy.DECOMPOSED)
"""Strategies that first choose hosts for a large group."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A problem, and the resources and settings of the search.

    :ivar task: the problem, and the deadline of the search for a plan
    :ivar deadline: the deadline of the whole call
    """

    task: Task
    deadline: Deadline
    settings: Settings

    @property
    def strategy(self) -> Strategy:
        return self.settings.strategy


def solve(group: Group, snapshot: Snapshot, *,
          placed: Mapping[str, str] = FrozenMapping(),
          objective: str | Objective = 'spread',
          settings: Settings = DEFAULT) -> Answer:
    """Return a plan for the group, the reasons why no plan exists, or Unknown
    if the search found neither.

    The plan minimises the cost of preferences first, then the objective.

    :param placed: path to host name of members that stay on their hosts; the
        snapshot counts them and their usage
    :param objective: an objective or the name of an installed objective
    :param settings: the solver, the time limit and other settings
    :raises InvalidDocument: if a flavor, level, placed member or host is
        unknown
    :raises UnknownPlugin: if the objective or the solver is not installed
    """
    deadline = Deadline(settings.timer, settings.time_limit)
    if isinstance(objective, str):
        objective = load_objective(objective)
    backend = load_backend(settings.solver, settings.threads)
    reduced = snapshot.without_servers(placed.values())
    bound = bind(group, reduced)
    goal = objective.for_group(bound)

    def find(group: Group, hosts: Snapshot) -> Answer:
        known = Incumbent(group, hosts, placed, goal, settings.gap)
        question = _Question(
            Task(known, backend, deadline.part(limits().search_share)),
            deadline, settings)
        found = _answer(question)
        return _plan(question) if isinstance(found, Unknown) and (
            late_plan(known, deadline, found.seconds['total'])) else found

    with (one_processor(), using(settings.limits or all_limits()),
          few_collections()):
        answer, tree_limits = plan_on_trees(
            bound, reduced, placed, find, until_first_plan(deadline).left)

    def question() -> Question:
        asked = tree_problem(bound, snapshot, placed, tree_limits)
        return Question(asked.group if asked else bound,
                        asked.snapshot if asked else snapshot,
                        FrozenMapping(placed), goal)

    notify_observers(question, answer, settings.observer)
    return answer


def _answer(question: _Question) -> Answer:
    """Run the phases of the search; each of them improves the incumbent, and
    the search ends when the incumbent is good enough."""
    task, known = question.task, question.task.known
    deadline, automatic = task.deadline, question.strategy is Strategy.AUTO
    hard = with_hard_preferences(known, deadline) if automatic else None
    if hard and hard.is_good_enough and adopt(known, hard):
        return _plan(question)
    if question.strategy in _JOIN and (answer := _insert_members(question)):
        return answer
    if automatic and is_small(known) and has_costs_of_domains(known):
        plan_by_domains(known, deadline.part(limits().program_share))
        if known.is_good_enough:
            return _plan(question)
    if hard and choose_hosts(task.of(hard)):
        if not hard.is_good_enough:
            _complete(replace(question, task=task.of(hard)), True)
        if adopt(known, hard):
            return _plan(question)
    before = known.where
    if question.strategy is Strategy.NEIGHBOURHOODS:
        first_plan(known, deadline)
    if question.strategy in _CHOOSE_HOSTS:
        plan_on_chosen_hosts(task, question.strategy is Strategy.DECOMPOSED)
        if known.where is not before:
            search_needed_hosts(task)
    return _complete(question, known.where is before)


def _complete(question: _Question, on_all: bool) -> Answer:
    """Run the phases after those on chosen hosts, on all hosts if needed."""
    task, known = question.task, question.task.known
    proof = _on_all_hosts(question) if on_all else None
    if proof is None and question.strategy in _IMPROVE and (
            task.deadline.left() and not known.is_good_enough):
        find_better_plan(task, question.settings.improvement, on_all,
                         question.strategy is Strategy.NEIGHBOURHOODS)
    late_bound(known, question.deadline)
    return proof or _plan(question)


def _insert_members(question: _Question) -> Plan | None:
    """A plan that inserts few new members without a program; None if other
    phases may find a better plan."""
    known, found = question.task.known, None
    with contextlib.suppress(OutOfTime):
        found = insert_members(
            known, question.task.deadline.part(limits().attempt_share),
            always=question.strategy is Strategy.INSERTION)
    if found is None:
        return None
    if not found.is_enough:
        known.offer(found.where)
        known.prove(found.bound, known.plan_cost[0])
        return None
    return proved_plan(
        known, found.where, Proof(found.bound, known.least, found.status),
        lambda: seconds_by_step(question.deadline, 0.0))


def _on_all_hosts(question: _Question) -> Unplaceable | Unknown | None:
    """Search for a plan on all hosts. Return the answer if no plan is known,
    and None if the incumbent has a plan."""
    task, known = question.task, question.task.known
    deadline, improves = task.deadline, question.strategy in _IMPROVE
    many_hosts = len(known.snapshot.hosts) > construct_limits().all_hosts
    if known.where is None and (improves or many_hosts):
        first_plan(known, deadline.part(limits().attempt_share), deadline)
    if improves and known.where is not None:
        with contextlib.suppress(OutOfTime):
            if has_fewest_hosts(known, deadline.part(limits().whole_share)):
                return None
        if plan_by_sets(known, deadline):
            return None
        # A search of neighbourhoods follows.
        task = task.part(limits().whole_share)
    in_time = task.deadline.check
    try:
        case = known.whole_case(in_time)
        conflict, reduced = propagated(case, in_time)
    except OutOfTime as limit:
        return _unknown(question, limit) if known.where is None else None
    if known.where is None and (conflict is not None or has_no_plan(
            case, task.deadline.part(limits().bound_share))):
        return _unplaceable(question, case, conflict)
    status = search_all_hosts(
        task, reduced, question.strategy is Strategy.WHOLE)
    if status is SearchStatus.INFEASIBLE and known.where is None:
        return _unplaceable(question, case)
    return _unknown(question) if known.where is None else None


def _plan(question: _Question) -> Plan:
    """The plan of the incumbent, with its bounds."""
    known = question.task.known
    return proved_plan(
        known, known.where, Proof(known.bound, known.least, known.status),
        lambda: seconds_by_step(question.deadline, known.solving))


def _unplaceable(question: _Question, case: Case,
                 conflict: Sequence[ScopedPolicy] | None = None
                 ) -> Unplaceable:
    explained, minimal = find_reasons(
        case, question.task.backend, question.deadline, conflict)
    return Unplaceable(explained, minimal, seconds_by_step(
        question.deadline, question.task.known.solving))


def _unknown(question: _Question, limit: OutOfTime | None = None) -> Unknown:
    known = question.task.known
    return unknown(known, question.deadline.limit, limit, seconds_by_step(
        question.deadline, known.solving))
