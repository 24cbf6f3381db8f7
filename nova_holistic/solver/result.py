# SPDX-License-Identifier: Apache-2.0
"""Conversion of a placement and its proof into a plan, and the answer without
a plan."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.messages.cloud_totals import total
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.objective import Objective
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Preference, PreferenceCost, Reason,
    Unknown)
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.numerics import bound as bounds
from nova_holistic.solver.problem.deadline import (
    Deadline, OutOfTime, TooLarge)
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.search_status import SearchStatus


@dataclass(frozen=True, slots=True)
class Proof:
    """The proved bounds for a placement.

    :ivar bound: the lower bound of the objective; None if nothing is proved
    :ivar least: the lower bound of the cost of preferences
    :ivar status: OPTIMAL if no plan is better
    """

    bound: float | None
    least: Fraction | float
    status: SearchStatus


def proved_plan(known: Incumbent, where: Mapping[str, Host], proof: Proof,
                seconds: Callable[[], Mapping[str, float]]) -> Plan:
    """Return the plan that places the members on these hosts.

    :param known: the incumbent, which contains the problem
    :param where: member path to host, of all members in document order
    :param seconds: a function that returns the seconds of each step
    """
    value = float(known.objective.value(
        known.members, where, known.placed, known.snapshot))
    best = proof.status is SearchStatus.OPTIMAL
    preferences = tuple(
        Preference(p.policy.title, p.scope.path, p.policy.check(
            p.scope, where, known.snapshot).count)
        for p in known.policies if not p.policy.hard)
    cost = float(preference_cost(known.policies, where, known.snapshot))
    least = cost if best else float(proof.least)
    return Plan(
        known.group.name,
        tuple(Placement(path, host.name, host.node, host.location)
              for path, host in where.items()),
        _value_with_gap(known.objective, value, proof.bound, best),
        preferences, seconds(),
        PreferenceCost(cost, least, bounds.gap(cost, least))
        if preferences else None,
        tuple(_warnings(known.group, where, known.snapshot)))


def _warnings(group: Group, where: Mapping[str, Host],
              snapshot: Snapshot) -> Iterator[Reason]:
    for scope in group.scopes():
        for each in scope.group.relationships:
            for message in each.warnings(scope, where, snapshot):
                yield Reason.of(scope.path, message)


def _value_with_gap(objective: Objective, value: float, bound: float | None,
                    best: bool) -> ObjectiveValue:
    # A bound above the value is an error of the solver and must be visible.
    lower = bounds.safe(objective, bound)
    if best:
        lower = max(value, lower)
    return ObjectiveValue(objective.name, value, lower,
                          bounds.gap(value, lower))


def seconds_by_step(deadline: Deadline,
                    solving: float) -> FrozenMapping[str, float]:
    """Seconds by step. The caller takes the snapshot and adds its time."""
    total = deadline.elapsed()
    return FrozenMapping({'snapshot': 0.0, 'build': total - solving,
                          'solve': solving, 'total': total})


def unknown(known: Incumbent, time_limit: float, limit: OutOfTime | None,
            seconds: Mapping[str, float]) -> Unknown:
    """Return the answer without a plan and without a proof.

    :param known: the incumbent, which contains the problem
    :param time_limit: time limit of the search in seconds
    :param limit: the limit that ended the search; None if all phases have
        ended
    :param seconds: seconds of each step
    """
    members = len(known.members)
    hosts = total(f'{len(known.snapshot.hosts)}', 'the')
    if isinstance(limit, TooLarge):
        message = format_message(
            'the problem of {} members with different requirements on {} '
            'hosts is too large for the solver', members, hosts)
    elif time_limit < limits().first_plan_seconds:
        message = format_message(
            'no plan for {} members on {} hosts was found within the time '
            'limit of {} s, which is extended to {} s for the first plan; a '
            'plan may still exist', members, hosts, f'{time_limit:g}',
            f'{limits().first_plan_seconds:g}')
    else:
        message = format_message(
            'no plan for {} members on {} hosts was found within {} s; a plan '
            'may still exist', members, hosts, f'{time_limit:g}')
    return Unknown(message, seconds)
