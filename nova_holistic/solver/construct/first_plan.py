# SPDX-License-Identifier: Apache-2.0
"""A first plan by greedy construction with repair, on some of many hosts.

It needs less effort than any other phase: neither a program nor a table of all
hosts for each class of members.
"""

import contextlib

import numpy as np

from nova_holistic.solver.construct.batches import batches
from nova_holistic.solver.construct.by_batches import BatchConstruction
from nova_holistic.solver.construct.greedy import plans
from nova_holistic.solver.construct.some_hosts import HostSelection, some_hosts
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import (
    limits_per_host, most_on_a_host)
from nova_holistic.solver.problem.subproblem import Subproblem


def first_plan(incumbent: Incumbent, deadline: Deadline,
               longest: Deadline | None = None,
               batches_until: Deadline | None = None) -> None:
    """Construct plans and offer them to the incumbent, while enough time is
    left. If the group consists of several batches, one plan is sufficient.

    :param longest: a later deadline. The first attempt to place all members
        without batches may use most of this time. Otherwise, groups of
        thousands of members would have no plan, because all attempts end
        before the last member.
    :param batches_until: a later deadline, until which the construction in
        batches may continue if it places more and more members
    """
    table, time = HostTable.of(incumbent.snapshot), deadline.left()
    if not len(table) or not time:
        return
    longest = longest.part(phases().main_share) if longest else deadline
    with contextlib.suppress(OutOfTime):
        parts = batches(incumbent, limits().batch_members, constructs=True)
        if len(parts) > 1:
            construction = BatchConstruction(
                incumbent, table, deadline, batches_until or deadline)
            if construction.place(parts) and incumbent.offer(
                    construction.where):
                return
        case = incumbent.case(longest.check, Subproblem(
            None if _are_few(incumbent, table)
            else table.part(_chosen(incumbent, table)), constructs=True))
        for counts in plans(case, longest, deadline):
            incumbent.offer(case.placement(counts))
            if deadline.left() < limits().further_plan_share * time:
                break


def until_first_plan(deadline: Deadline) -> Deadline:
    """The deadline of the first plan, if the time limit of the search is
    shorter: an answer without a plan is useless."""
    return deadline.at_least(limits().first_plan_seconds)


def late_plan(incumbent: Incumbent, deadline: Deadline,
              elapsed: float) -> bool:
    """Construct a plan although the other phases have found none in a short
    time limit; return whether a plan was found.

    :param deadline: the time limit of the search
    :param elapsed: seconds that the search has taken
    """
    late = until_first_plan(deadline)
    if late.limit > max(deadline.limit, elapsed):
        first_plan(incumbent, late.part(phases().main_share), late, late)
    return incumbent.where is not None


def _are_few(incumbent: Incumbent, table: HostTable) -> bool:
    descriptions = len({m.description for m in incumbent.members})
    return (len(table) <= limits().all_hosts
            or len(table) * descriptions <= limits().all_places)


def _chosen(incumbent: Incumbent, table: HostTable) -> np.ndarray:
    return some_hosts(HostSelection(
        incumbent.members, Eligibility(table), table.enabled,
        [table.index[name] for name in incumbent.placed.values()],
        most_on_a_host=most_on_a_host(
            limits_per_host(incumbent.group),
            [m.path for m in incumbent.members])),
        table)
