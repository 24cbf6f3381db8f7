# SPDX-License-Identifier: Apache-2.0
"""Bounds of a group from its independent parts.

No policy connects the members of different parts. If a part had all hosts to
itself, its best plan would cost at most its share of any plan of the group.
Therefore, the sum over the parts is a lower bound of the cost of preferences.
It is also a lower bound of the objective if the members of different parts
increase each other's costs, or do not affect them. If they share the cost of a
host, only the largest cost of a part is a bound.
"""

from collections.abc import Mapping, Sequence
import contextlib
from dataclasses import dataclass
from fractions import Fraction
import math

import numpy as np

from nova_holistic.model.objective import Objective
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.confined.separate_sets import is_convex
from nova_holistic.solver.construct.batches import Batch, batches
from nova_holistic.solver.limits.current import (
    phases as limits, small_groups)
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.all_hosts import search_chosen_hosts
from nova_holistic.solver.phases.few_places import (
    is_nearly_full, search_few_places)
from nova_holistic.solver.phases.fewer_hosts import search_fewer_hosts
from nova_holistic.solver.phases.host_relaxation import (
    is_diverse, relax_policies, suits_all_hosts)
from nova_holistic.solver.phases.pattern_plan import plan_by_patterns
from nova_holistic.solver.phases.places_plan import plan_on_places
from nova_holistic.solver.phases.preference_bounds import (
    bound_preferences, incumbent_of_part, part_cost, solve_part)
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.problem.incumbent import Incumbent


@dataclass(frozen=True, slots=True)
class _Part:
    """The bounds that are proved for one part.

    :ivar least: lower bound of the cost of its preferences
    :ivar limit: cost of its preferences up to which ``bound`` is valid;
        infinite if it has none
    :ivar bound: lower bound of its objective
    """

    least: Fraction
    limit: Fraction | float
    bound: float


def bound_without_policies(task: Task, on_all: bool,
                           plans: bool = True) -> None:
    """Prove the bounds that no earlier phase has proved: without most
    policies, and of independent parts. Nothing is proved unless the group is
    diverse and on few hosts, or small.

    :param task: its incumbent has a plan
    :param on_all: whether no phase on chosen hosts has found the plan
    :param plans: whether the program of patterns also improves the plan of a
        small group
    """
    known = task.known
    if known.is_good_enough:
        return
    is_small = len(known.members) <= small_groups().pattern_members
    if is_diverse(known) and suits_all_hosts(known):
        bound_diverse(task, plans)
    elif is_small and (on_all or not is_diverse(known)):
        if plans:
            plan_by_patterns(task)
        if known.is_good_enough:
            return
        with contextlib.suppress(OutOfTime):
            relax_policies(known, task.deadline.part(limits().bound_share))
        if not known.is_good_enough and known.counts_hosts:
            # Policies on domains may raise the number of hosts of one part.
            bound_parts(task.part(limits().bound_share))


def bound_diverse(task: Task, plans: bool = True) -> None:
    """Prove bounds without most policies, and from the independent parts.
    Programs also search for better plans.

    :param task: its incumbent is that of a diverse group, with a plan
    :param plans: as for ``bound_without_policies``
    """
    known, deadline, is_full = task.known, task.deadline, False
    with contextlib.suppress(OutOfTime):
        is_full = is_nearly_full(known, deadline)
        search_few_places(task.part(limits().main_share))
    if known.is_good_enough:
        return
    # A second construction takes as long as that of the first plan.
    again = known.seeks_places = known.counts_hosts and (
        deadline.elapsed() <= limits().attempt_share * deadline.limit)
    least = bound_preferences(task.part(limits().bound_share))
    hosts = None
    with contextlib.suppress(OutOfTime):
        # Patterns are not applicable if policies keep members together.
        hosts = relax_policies(known, deadline.part(
            limits().program_share if again else limits().bound_share))
    if again:
        plan_on_places(known, deadline.part(limits().main_share))
    with contextlib.suppress(OutOfTime):
        search_fewer_hosts(
            task, lambda: _share_for_plan(known, hosts, is_full))
    if known.is_good_enough or is_full and not known.is_preferred:
        # The large-neighbourhood search satisfies more preferences.
        return
    with contextlib.suppress(OutOfTime):
        if hosts is not None and hosts.size and known.is_preferred:
            search_chosen_hosts(task.part(limits().program_share), hosts)
    if adds_up(known.objective) and not known.is_close:
        # Otherwise, the bound of the whole group is nearly always better.
        bound_parts(task.part(limits().bound_share), least)
    if plans and known.is_preferred:
        # Otherwise, other searches may first find a plan whose preferences
        # cost less.
        plan_by_patterns(task)


def _share_for_plan(known: Incumbent, hosts: np.ndarray | None,
                    is_full: bool) -> float:
    """Share of the remaining time for programs that empty hosts.

    :param hosts: hosts of a further program; None or empty if none follows
    :param is_full: whether the cloud is nearly full
    """
    follows = hosts is not None and hosts.size
    if known.is_preferred and not follows and (
            len(known.members) > limits().emptied_first):
        return limits().search_share
    return limits().program_share if is_full else limits().main_share


def bound_parts(task: Task,
                least: Mapping[str, Fraction] | None = None) -> None:
    """Prove bounds from the independent parts of the group, as far as the time
    permits. Parts whose preferences cost the most come first.

    :param task: its incumbent has a plan
    :param least: the result of ``bound_preferences``, if it was called
    """
    known, least = task.known, least or {}
    parts = batches(known, 1)
    # Members of many parts compete for hosts. Therefore, a relaxation of the
    # whole group has a better bound.
    if len(parts) < 2 or known.objective.traffic() is None and (
            len(parts) > limits().few_parts):
        return
    found: list[_Part] = []
    for batch in _with_costs(known, parts):
        if not task.deadline.left():
            break
        with contextlib.suppress(OutOfTime):
            found.append(_solve_part(
                task.part(limits().bound_share), batch,
                least.get(batch.members[0].path)))
    known.prove_least(sum((each.least for each in found), Fraction(0)))
    known.prove_within(lambda cost: _total(
        found, Fraction(cost), adds_up(known.objective)))


def _with_costs(known: Incumbent, parts: Sequence[Batch]) -> list[Batch]:
    """The parts whose bounds may be above 0 and are needed, in the order of
    the cost of their preferences in the best plan."""
    cost = {id(each): part_cost(known, each) for each in parts}
    traffic = known.objective.traffic()
    if traffic is None:
        costly = parts
    else:
        # Other parts without violated preferences cost nothing.
        paths = set() if known.is_close else {
            m.path for each in traffic for side in (each.first, each.second)
            for m in side.members}
        costly = [each for each in parts if cost[id(each)]
                  or not paths.isdisjoint(m.path for m in each.members)]
    return sorted(costly, key=lambda each: -cost[id(each)])


def _total(parts: Sequence[_Part], cost: Fraction, is_sum: bool) -> float:
    """The bound of the objective for plans whose preferences cost at most the
    given cost.

    :param is_sum: whether the objective is at least the sum over the parts
    """
    least = sum((each.least for each in parts), Fraction(0))
    valid = [each.bound for each in parts
             if cost - (least - each.least) <= each.limit]
    return float(sum(valid) if is_sum else max(valid, default=0.0))


def adds_up(objective: Objective) -> bool:
    """Whether the objective of a group is at least the sum over its parts."""
    host_cost = objective.host_cost()
    if host_cost is None:
        return objective.traffic() is not None
    return is_convex(host_cost)


def _solve_part(task: Task, batch: Batch, least: Fraction | None) -> _Part:
    """The bounds of the part as a group on all hosts.

    :param least: the result of ``bound_preferences`` for the part
    """
    known = task.known
    alone = incumbent_of_part(known, batch, known.objective.for_group(
        batch.within(known.group)))
    if least is not None:
        alone.prove_least(least)
        traffic = alone.objective.traffic()
        if traffic is not None and not traffic:
            # Every plan has the objective 0.
            return _Part(least, math.inf, 0.0)
    solve_part(task.of(alone))
    return _bounds_of_part(known, alone)


def _bounds_of_part(known: Incumbent, alone: Incumbent) -> _Part:
    """The proved bounds of the part's share of any plan of the group.

    :param alone: the incumbent of the part
    """
    least = Fraction(alone.least)
    if alone.where is None:
        return _Part(least, Fraction(0), 0.0)
    comparable = known.objective.host_cost() is None or (
        requested_classes(alone.members) == requested_classes(known.members))
    limit = alone.plan_cost[0] if alone.has_preferences else math.inf
    return _Part(least, limit,
                 float(alone.bound) if comparable else 0.0)
