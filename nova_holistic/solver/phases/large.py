# SPDX-License-Identifier: Apache-2.0
"""Plans for large groups on large clouds.

A relaxation of the full problem chooses a few hosts, and the full model is
built for these hosts only. The bound of the relaxation is valid for the full
problem. If the chosen hosts have no plan, other hosts may still have one.
"""

import contextlib

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.branches import domain_branches
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable, place_patterns)
from nova_holistic.solver.construct.fallback_plan import FallbackPlan
from nova_holistic.solver.decomposition.class_counts import class_counts
from nova_holistic.solver.decomposition.host_assignment import (
    assign_to_hosts, from_patterns, HostAssignment)
from nova_holistic.solver.decomposition.many_subgroups import (
    many_subgroups, size)
from nova_holistic.solver.limits.current import (
    column_generation, milp, phases as limits)
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.phases.relaxed_hosts import Relaxed
from nova_holistic.solver.problem.case import Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import different_requirements
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.subproblem import Subproblem
from nova_holistic.solver.traffic.traffic_plans import traffic_plan


def suits_patterns(known: Incumbent) -> bool:
    """Whether column generation takes as many different requirements."""
    return len(different_requirements(
        known.members)) <= column_generation().kinds


def large(task: Task, longest: Deadline | None = None,
          always: bool = False) -> None:
    """Offer plans on chosen hosts and bounds to the incumbent. Nothing is done
    if the group is not large.

    :param longest: a later deadline, for use when a fallback plan is known
    :param always: whether to search even if the group is not large
    :raises OutOfTime: if the time ends before any plan is known
    """
    incumbent, deadline = task.known, task.deadline
    kinds = incumbent.kinds(deadline.check)
    if kinds is None or not (
            always or size(kinds) > limits().large_places
            and not many_subgroups(kinds)) or kinds.lacks_room:
        return
    fallback = FallbackPlan(kinds, incumbent, deadline, longest)
    traffic = incumbent.objective.traffic()
    # Without traffic, an objective about traffic does not distinguish plans.
    fallback.construct_after(0.0 if traffic is not None and not traffic
                             else limits().fallback_after)
    if incumbent.is_good_enough:
        return
    relaxed = _relaxed(kinds, task, fallback)
    if relaxed is None:
        return
    if not incumbent.is_good_enough:
        incumbent.prove(*relaxed.count_hosts((longest or deadline).part(
            limits().bound_share)))
    if not relaxed.merged.impossible:
        fallback.construct_after(0.0 if size(kinds) > milp().whole_places
                                 else limits().relaxation_limit)


def _relaxed(kinds: Kinds, task: Task,
             fallback: FallbackPlan) -> Relaxed | None:
    """Offer the plans that relaxations lead to. Return the relaxation with a
    bound, if there is one."""
    relaxed = None
    try:
        if not _plan_for_traffic(kinds, task):
            relaxed = Relaxed.of(kinds, task.known.objective,
                                 task.deadline)
            _plan_by_relaxations(relaxed, task, fallback)
    except OutOfTime:
        fallback.construct_after(0.0)
        if task.known.where is None:
            raise
    finally:
        if relaxed is not None:
            task.known.prove_least(relaxed.merged.least)
            task.known.prove_within(relaxed.within)
    return relaxed


def relax(incumbent: Incumbent, deadline: Deadline) -> None:
    """Prove bounds by a relaxation, which may merge similar members. Nothing
    is proved if the members have no room.

    :raises OutOfTime: if the time ends before the relaxation is solved
    """
    kinds = incumbent.kinds(deadline.check, limits().relaxed_kinds)
    if kinds is None or kinds.lacks_room:
        return
    relaxed = Relaxed.of(kinds, incumbent.objective, deadline)
    try:
        relaxed.merged.run()
        relaxed.merged.bound_members()
        relaxed.count_hosts(deadline)
    finally:
        incumbent.prove_least(relaxed.merged.least)
        incumbent.prove_within(relaxed.within)


def _plan_for_traffic(kinds: Kinds, task: Task) -> bool:
    """Offer a plan for an objective that measures traffic. Return whether such
    a plan was found."""
    traffic = task.known.objective.traffic()
    search = traffic and traffic_plan(
        kinds, traffic, task.known, task.backend, task.deadline)
    if not search:
        return False
    task.adopt(search)
    return True


def _plan_by_relaxations(relaxed: Relaxed, task: Task,
                         fallback: FallbackPlan) -> None:
    """Offer the plans that the relaxations lead to."""
    found, merged = False, relaxed.merged
    if is_applicable(relaxed.kinds, relaxed.host_cost, relaxed.cells,
                     merged.columns):
        merged.run(limits().rounds_before_patterns)
        fallback.construct_after(limits().fallback_after)
        search = _search_from_patterns(relaxed, task, fallback)
        found = search is not None and search.best is not None
        if found and search.preferred():
            return
    merged.run()
    fallback.construct_after(limits().fallback_after)
    if not (merged.impossible or merged.bound is None):
        _search_chosen_hosts(relaxed, task, found)


def _search_chosen_hosts(relaxed: Relaxed, task: Task, found: bool) -> None:
    """Search for plans on the hosts that the relaxation uses, with more spare
    hosts in each attempt.

    :param found: whether column generation has found a plan
    """
    deadline, merged = task.deadline, relaxed.merged
    alike = not np.ptp(merged.columns.opening) > EQUAL_COSTS
    # If all hosts cost the same, the hosts of the relaxation are usually best.
    for spare in limits().spare_hosts[0 if alike else 1:]:
        assignment = assign_to_hosts(merged, spare, task.known.gap,
                                     deadline)
        if assignment.taken is None and spare < limits().spare_hosts[-1]:
            continue
        search = search_on_hosts(relaxed, task, assignment)
        found = found or search.best is not None
        if search.good_enough() or (
                deadline.elapsed() > limits().relaxation_limit
                * deadline.limit):
            break
        if found and (relaxed.host_cost.slopes or not relaxed.is_objective):
            # More hosts would lead to the same placement.
            break


def _search_from_patterns(relaxed: Relaxed, task: Task,
                          fallback: FallbackPlan) -> Search | None:
    """Search on the hosts of column generation over patterns of members on
    hosts, which yields a tighter bound and better placements; None if it
    yields no placement."""
    deadline, merged = task.deadline, relaxed.merged
    kinds, rules = relaxed.kinds, relaxed.cells
    if merged.impossible or merged.bound is None or (
            deadline.elapsed() > limits().relaxation_limit * deadline.limit):
        return None
    generation = ColumnGeneration(
        kinds, rules, relaxed.host_cost, merged, deadline, domain_branches(
            kinds, rules, relaxed.cohesive.domains, merged.limit,
            deadline.left))
    whole = task.known.objective.integral and relaxed.is_objective
    is_finished = generation.run(whole) or generation.has_used_time_share()
    taken = place_patterns(
        kinds, rules, generation, task.known.gap, whole,
        merged.limit) if is_finished else None
    merged.proved.add(generation.bound, generation.limit)
    if taken is None:
        return None
    fallback.construct_after(limits().fallback_late)
    with contextlib.suppress(OutOfTime):
        return search_on_hosts(relaxed, task, from_patterns(
            merged, *taken))
    return None


def search_on_hosts(relaxed: Relaxed, task: Task,
                    assignment: HostAssignment) -> Search:
    """Search for a plan on the hosts of an assignment, starting from its
    places, and offer it to the incumbent.

    If the relaxation violates no preference, the places are first assigned
    with hard policies in place of the preferences, because greedy assignment
    considers the costs of few of them.
    """
    known, merged = task.known, relaxed.merged
    group = relaxed.kinds.group
    search, start = None, None
    if not merged.limit and assignment.taken is not None and (
            known.has_preferences):
        search, start = _search(
            with_hard_forms(group), relaxed, task, assignment)
    if start is None or search.case.violates_policy(
            search.case.placement(start)):
        search, start = _search(group, relaxed, task, assignment)
    search.improve(start, merged.least, relaxed.within,
                   known.where is not None)
    task.adopt(search)
    return search


def _search(group: Group, relaxed: Relaxed, task: Task,
            assignment: HostAssignment) -> tuple[Search, Counts | None]:
    """A search on the hosts of an assignment, and counts of the classes for
    its places."""
    kinds, deadline = relaxed.kinds, task.deadline
    hosts = np.union1d(assignment.hosts, kinds.placed_hosts)
    case = task.known.case(
        deadline.check, Subproblem(kinds.table.part(hosts)), group)
    return task.search(case), (
        None if assignment.taken is None else class_counts(
            case, relaxed.cells, relaxed.host_cost, assignment,
            relaxed.merged.limit, deadline))
