# SPDX-License-Identifier: Apache-2.0
"""Plans of large groups on some of many hosts, and bounds for all hosts.

Which method comes first depends on the group. Relaxations are fast and strong
if many members request the same. If a group has many policies, each for few
members, or if its members all differ, greedy construction finds the first
plan, and relaxations of fewer conditions prove the bound.
"""

import contextlib

from nova_holistic.solver.confined.set_plans import plan_by_sets
from nova_holistic.solver.construct.batches import is_connected
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.cover_plan import plan_on_cover
from nova_holistic.solver.phases.host_relaxation import (
    is_diverse, suits_all_hosts)
from nova_holistic.solver.phases.large import large, relax, suits_patterns
from nova_holistic.solver.phases.part_bounds import bound_diverse
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.eligibility import different_requirements


def plan_on_chosen_hosts(task: Task, always: bool = False) -> None:
    """Improve the incumbent and its bounds on chosen hosts.

    :param always: use the relaxation of aggregated hosts even if another
        method suits the group better, or if the group is small
    """
    known = task.known
    if always:
        _plan_by_relaxation(task, always)
    elif is_diverse(known) and not suits_all_hosts(known):
        _plan_diverse_group(task)
    else:
        if len(different_requirements(known.members)) > limits().coarse_from:
            _plan_different_members(task)
        if not known.is_good_enough:
            _plan_by_relaxation(task)


def _plan_by_relaxation(task: Task, always: bool = False) -> None:
    """Plans of a group whose members request few different amounts, or of any
    group with a plan that is not good enough."""
    known, deadline = task.known, task.deadline
    with contextlib.suppress(OutOfTime):
        large(task.part(limits().main_share), deadline, always)
    if not known.is_good_enough:
        plan_by_sets(known, deadline)


def _plan_different_members(task: Task) -> None:
    """The relaxation of aggregated hosts gives no places for the members, but
    its bound is useful."""
    known, deadline = task.known, task.deadline
    first_plan(known, deadline.part(limits().attempt_share), deadline)
    plan_on_cover(known, deadline.part(limits().main_share))
    with contextlib.suppress(OutOfTime):
        if not known.is_good_enough:
            relax(known, deadline.part(limits().bound_share))


def _plan_diverse_group(task: Task) -> None:
    """A relaxation of many policies takes seconds and has a weak bound, so
    bounds that ignore policies on domains follow."""
    known, deadline = task.known, task.deadline
    first_plan(known, deadline.part(limits().main_share),
               batches_until=deadline)
    plan_by_sets(known, deadline)
    with contextlib.suppress(OutOfTime):
        if known.where is None:
            large(task.part(limits().main_share), deadline)
        elif not known.is_good_enough and (
                known.objective.traffic() or _suits_relaxation(task)):
            large(task.part(limits().bound_share), always=True)
    if known.where is not None and (
            not known.is_good_enough and deadline.left()):
        bound_diverse(task)


def _suits_relaxation(task: Task) -> bool:
    """Whether the relaxation of aggregated hosts comes before the bounds that
    ignore policies on domains."""
    known = task.known
    return len(known.policies) <= limits().pattern_policies and (
        suits_patterns(known) and is_connected(known))
