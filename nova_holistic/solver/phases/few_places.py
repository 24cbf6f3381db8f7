# SPDX-License-Identifier: Apache-2.0
"""Groups for which few hosts have room, if the objective is the number of
hosts.

A program of all places proves a better bound than relaxations without policies
do, because it contains the policies on domains. On a nearly full cloud, its
solution takes long if preferences are violated. Then the large-neighbourhood
search finds better plans in the same time than other programs do, and the
linear relaxation of the whole program proves the bound of the last plan.
"""

import contextlib
from dataclasses import replace

from nova_holistic.solver.improve.search import improve
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import milp, phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.all_hosts import preferred_case
from nova_holistic.solver.phases.host_relaxation import is_diverse
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.ruin_recreate.part_search import (
    ruin_and_recreate)


def search_few_places(task: Task) -> None:
    """If few hosts have room for the members, improve the incumbent, which has
    a plan, and prove its bound, by a program of all hosts.

    :raises OutOfTime: if the time ends before the program is built
    """
    known, deadline = task.known, task.deadline
    kinds = None if known.is_good_enough else _few_places(known, deadline)
    if kinds is None:
        return
    ruin_and_recreate(known, deadline.part(limits().attempt_share))
    case = preferred_case(known, deadline)
    most = limits().few_places
    if known.plan_cost[0]:
        # A program of violated preferences takes longer. The searches that
        # follow satisfy more of them in this time.
        most = (milp().exact_variables if _is_full(kinds)
                else milp().searched_variables)
    places = (case.open_room(deadline.check) > 0).sum()
    if places > most or known.is_good_enough:
        return
    search = task.search(case)
    search.complete(known.counts(case), known.least)
    task.adopt(search, all_hosts=True)


def is_nearly_full(known: Incumbent, deadline: Deadline) -> bool:
    """Whether the objective is the number of hosts, and few hosts have room,
    compared with the number of members.

    :raises OutOfTime: if the time ends before the room is known
    """
    kinds = _few_places(known, deadline)
    return kinds is not None and is_diverse(known) and _is_full(kinds)


def _few_places(known: Incumbent, deadline: Deadline) -> Kinds | None:
    """The kinds of the members; None if the objective is not the number of
    hosts, or if many hosts have room."""
    if known.placed or not known.counts_hosts or (
            len(known.snapshot.hosts) > limits().few_places):
        return None
    kinds = Kinds.of(known.group, known.snapshot, {}, deadline.check,
                     limits().relaxed_kinds)
    return None if kinds is None or (
        (kinds.room > 0).sum() > limits().few_places) else kinds


def _is_full(kinds: Kinds) -> bool:
    return bool((kinds.room > 0).any(axis=0).sum()
                <= limits().open_hosts * len(kinds.members))


def improve_plan(task: Task, settings: Improvement) -> None:
    """Improve the incumbent, which has a plan, until it is good enough or the
    time ends. If the cloud is nearly full, prove the bound of the last plan.
    """
    known, deadline, is_full = task.known, task.deadline, False
    with contextlib.suppress(OutOfTime):
        is_full = is_nearly_full(known, deadline)
    if not is_full:
        improve(task, settings)
        return
    improve(task.part(1 - limits().attempt_share), replace(
        settings, members=max(settings.members, limits().freed_members)))
    with contextlib.suppress(OutOfTime):
        if not known.is_good_enough:
            case = preferred_case(known, deadline)
            search = task.search(case)
            search.relax(known.counts(case))
            task.adopt(search, all_hosts=True)
