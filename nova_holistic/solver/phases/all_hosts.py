# SPDX-License-Identifier: Apache-2.0
"""Search with all hosts or some of them, which starts from the incumbent."""

import contextlib

import numpy as np

from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.diagnosis.contradiction import propagated
from nova_holistic.solver.limits.current import (
    milp, phases as limits, small_groups)
from nova_holistic.solver.milp.dominated_hosts import needed_places
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.search_status import SearchStatus
from nova_holistic.solver.problem.subproblem import (
    EVERYTHING, Subproblem)
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)
from nova_holistic.solver.traffic.traffic_plans import traffic_start


def search_all_hosts(task: Task, case: Case,
                     all_places: bool = False) -> SearchStatus:
    """Improve the incumbent and its bounds, and return the status of the
    search.

    :param case: all members and all hosts
    :param all_places: as for ``Search``
    """
    known, search = task.known, task.search(case, all_places)
    status = search.run(
        *traffic_start(case, known.placed, known.objective, task.deadline),
        known.counts(case))
    task.adopt(search, all_hosts=True)
    if search.best is not None and status is SearchStatus.OPTIMAL:
        known.prove_optimal(search.plan_cost)
    return status


def search_chosen_hosts(task: Task, hosts: np.ndarray) -> None:
    """Improve the incumbent, which has a plan, by a program of the hosts of
    this plan and the given hosts.

    The first plan may use several times as many hosts as needed. Therefore,
    ruin and recreate improves it first, which makes the program smaller.

    :param hosts: indexes of further hosts
    :raises OutOfTime: if the time ends before the program is built
    """
    known, deadline = task.known, task.deadline
    ruin_and_recreate(known, deadline.part(limits().bound_share))
    if known.is_good_enough:
        return
    table = HostTable.of(known.snapshot)
    used = table.indexes(known.where.values())
    case = preferred_case(known, deadline,
                          Subproblem(table.part(np.union1d(hosts, used))))
    search = task.search(case)
    search.improve(known.counts(case), known.least, lambda cost: known.bound,
                   is_known=True)
    known.solving += search.solving
    if search.best is not None:
        known.offer(case.placement(search.best))


def preferred_case(known: Incumbent, deadline: Deadline,
                   part: Subproblem | None = None) -> Case:
    """The case of some hosts or of all. If the plan of the incumbent violates
    no preference, the case has hard policies in place of the preferences,
    because a better plan violates none, either.

    :param part: the hosts of the case; None means all hosts
    :raises OutOfTime: if the time ends before the case is complete
    """
    if not known.plan_cost[0]:
        group = with_hard_forms(known.group)
    elif part is None:
        return known.whole_case(deadline.check)
    else:
        group = known.group
    return known.case(deadline.check, part or EVERYTHING, group)


def search_needed_hosts(task: Task) -> None:
    """Improve the incumbent, which has a plan, by a program of the hosts that
    are not dominated. Nothing is done if many hosts may matter to the group,
    or if the program is too large to be solved to optimality."""
    known = task.known
    if known.is_good_enough:
        return
    task = task.part(limits().whole_share)
    in_time = task.deadline.check
    with contextlib.suppress(OutOfTime):
        if not _has_few_places(known, task.deadline):
            return
        conflict, case = propagated(
            preferred_case(known, task.deadline), in_time)
        if conflict is None and needed_places(
                case, known.objective,
                in_time).sum() < milp().exact_variables:
            search_all_hosts(task, case)


def _has_few_places(known: Incumbent, deadline: Deadline) -> bool:
    """Whether few hosts may matter to the group: because it has few members,
    or because few hosts have room for one of them."""
    if len(known.members) <= limits().preferred_members:
        return True
    kinds = Kinds.of(known.group, known.snapshot, known.placed,
                     deadline.check) if (
        len(known.members) <= small_groups().pattern_members) else None
    return kinds is not None and (
        (kinds.room > 0).sum() < milp().exact_variables)


def has_fewest_hosts(incumbent: Incumbent, deadline: Deadline) -> bool:
    """Prove a bound if the objective is the number of hosts and no member
    stays; return whether this proves that no plan is better.

    The bound needs no program. Most small groups on few hosts have a plan with
    exactly this number of hosts. Without the bound, a program would search for
    a plan with one host fewer until the time limit is reached.

    :raises OutOfTime: if the time ends before the bound is proved
    """
    if incumbent.placed or not incumbent.counts_hosts:
        return False
    kinds = incumbent.kinds(deadline.check)
    if kinds is None:
        return False
    found = cells(kinds, deadline.check).fewest_with_limits
    incumbent.prove(float(found), float('inf'))
    cost, value = incumbent.plan_cost
    return cost <= incumbent.least and value <= incumbent.bound
