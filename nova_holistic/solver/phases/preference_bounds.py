# SPDX-License-Identifier: Apache-2.0
"""A bound of the cost of preferences from the independent parts of a group.

No policy connects the members of different parts. Therefore, the preferences
of a part cost at least as much as if the part had all hosts to itself, and the
sum over the parts is a bound for the group. If this bound is above 0 for a
part, every plan violates preferences of the part. So the parts without
violated preferences in the best plan do not matter.
"""

import contextlib
from fractions import Fraction

from nova_holistic.model.objective import Objective
from nova_holistic.solver.construct.batches import Batch, batches
from nova_holistic.solver.construct.first_plan import first_plan
from nova_holistic.solver.diagnosis.contradiction import propagated
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.all_hosts import search_all_hosts
from nova_holistic.solver.phases.domain_plan import (
    has_costs_of_domains, plan_by_domains)
from nova_holistic.solver.phases.large import relax
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.feasibility import Feasibility
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.preference_cost import preference_cost


def bound_preferences(task: Task) -> dict[str, Fraction]:
    """Prove a bound of the cost of preferences, as far as the time permits.
    Each part whose preferences the best plan violates has an equal share of
    the time.

    :param task: its incumbent has a plan
    :returns: a lower bound of the cost of the preferences of each part for
        which a plan with this cost, or within the gap, was found; the keys are
        paths of the first members
    """
    known = task.known
    if known.is_preferred:
        return {}
    parts = [each for each in batches(known, 1) if part_cost(known, each)]
    found: dict[str, Fraction] = {}
    least = Fraction(0)
    for solved, batch in enumerate(parts):
        if not task.deadline.left():
            break
        alone = incumbent_of_part(known, batch, Feasibility())
        with contextlib.suppress(OutOfTime):
            solve_part(task.of(alone).part(1 / (len(parts) - solved)))
        least += Fraction(alone.least)
        if alone.is_preferred:
            found[batch.members[0].path] = Fraction(alone.least)
    known.prove_least(least)
    return found


def part_cost(known: Incumbent, batch: Batch) -> Fraction:
    """The cost of the part's preferences in the best plan."""
    return preference_cost(
        batch.policies(known), known.where, known.snapshot)


def incumbent_of_part(known: Incumbent, batch: Batch,
                      objective: Objective) -> Incumbent:
    """An incumbent without a plan, of the part as a group on all hosts."""
    paths = batch.paths
    return Incumbent(batch.within(known.group), known.snapshot, {
        path: host for path, host in known.placed.items() if path in paths},
        objective, known.gap / 2)


def solve_part(task: Task) -> None:
    """Find a plan of a part, and prove bounds.

    :param task: its incumbent is that of the part, without a plan
    :raises OutOfTime: if the time ends before the search on all hosts
    """
    alone, deadline = task.known, task.deadline
    if has_costs_of_domains(alone):
        plan_by_domains(alone, deadline.part(limits().program_share))
    if not alone.is_good_enough:
        first_plan(alone, deadline)
        relax(alone, deadline)
    if alone.where is None or alone.is_good_enough:
        return
    conflict, case = propagated(
        alone.whole_case(deadline.check), deadline.check)
    if conflict is None:
        search_all_hosts(task, case)
