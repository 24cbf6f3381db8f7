# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the objective that ignores most policies on domains.

A relaxation with the policies of hundreds of small groups takes seconds, and
often proves a weak bound or nothing. Without these policies, the program is
small, and column generation usually converges. The bound is valid for any cost
of the preferences.

Members that close their hosts to all others are counted separately: no other
member shares the cost of their hosts. Therefore, the sum of the bounds is a
bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    is_applicable)
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import one_cell
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rows import ScopedPolicy


def relax_policies(incumbent: Incumbent, deadline: Deadline) -> None:
    """Prove lower bounds of the objective, and store them in the incumbent.

    Nothing is proved if the objective is not a sum over hosts, or if no plan
    exists.

    :raises OutOfTime: if the time ends before the relaxation is solved
    """
    host_cost = incumbent.objective.host_cost()
    if host_cost is None:
        return
    group, more = _without_closed_hosts(incumbent, host_cost, deadline)
    kinds = Kinds.of(group, incumbent.snapshot, incumbent.placed,
                     deadline.check, limits().coarse_kinds)
    if kinds is None or not kinds.kinds:
        incumbent.prove(more, float('inf'))
        return
    if (kinds.room.sum(axis=1) < kinds.numbers).any():
        # No plan exists.
        return
    rules = one_cell(kinds, deadline.check)
    aggregation = HostAggregation(kinds, rules, host_cost, deadline)
    aggregation.run()
    if aggregation.bound is None:
        return
    aggregation.bound_members()
    incumbent.prove(aggregation.within(float('inf')) + more, float('inf'))
    if kinds.is_coarse or not is_applicable(kinds, host_cost, rules,
                                            aggregation.columns):
        return
    generation = ColumnGeneration(kinds, rules, host_cost, aggregation,
                                  deadline)
    generation.run(incumbent.objective.integral and not more)
    incumbent.prove(generation.bound + more, generation.limit)


@dataclass(frozen=True, slots=True)
class _ClosedHosts:
    """Bounds of the cost of members that close their hosts to others."""

    incumbent: Incumbent
    table: HostTable
    costs: MarginalCost
    eligibility: Eligibility

    def least(self, each: ScopedPolicy, deadline: Deadline) -> float:
        """A lower bound of the cost of the policy's members, which share no
        host with others."""
        kinds: dict[tuple, list] = {}
        openings = []
        for member in each.scope.members:
            amounts = tuple(demands(member.requirements))
            key = amounts, id(member.requirements)
            if key not in kinds:
                deadline.check()
                suits = self._suiting(each, member.requirements,
                                      member.path) & self.costs.fits(amounts)
                if not suits.any():
                    return 0.0
                kinds[key] = [amounts, suits, 0]
                openings.append(float(self.costs.opening[suits].min()))
            kinds[key][2] += 1
        return max(self.costs.least([*kinds.values()]), *openings)

    def _suiting(self, each: ScopedPolicy, requirements: Requirements,
                 path: str) -> np.ndarray:
        """[host]: whether the host can hold the member. The policy is
        monotone: if the member alone violates it on a host, every plan with
        the member on this host violates it."""
        suits = self.eligibility.suitable(requirements).copy()
        snapshot = self.incumbent.snapshot
        for host in np.flatnonzero(suits).tolist():
            suits[host] = not each.policy.check(
                each.scope, {path: self.table.hosts[host]}, snapshot).count
        return suits


def _without_closed_hosts(incumbent: Incumbent, host_cost: HostCost,
                          deadline: Deadline) -> tuple[Group, float]:
    """The group without members that close their hosts to others, and a lower
    bound of the cost of those members."""
    closing = [*_closing(incumbent)]
    apart = {m.path for each in closing for m in each.scope.members}
    rest = [m for m in incumbent.members if m.path not in apart]
    if not closing or requested_classes(rest) != requested_classes(
            incumbent.members):
        return incumbent.group, 0.0
    table = HostTable.of(incumbent.snapshot)
    hosts = _ClosedHosts(incumbent, table, MarginalCost(
        table, incumbent.members, host_cost, ()), Eligibility(table))
    total = sum(hosts.least(each, deadline) for each in closing)
    return (_monotone(incumbent.group.only({m.path for m in rest})),
            total - SUM_ROUNDING * total)


def _monotone(group: Group) -> Group:
    """The group with only the policies and relationships that a plan still
    satisfies after members were removed: others, for example a spread over a
    minimum number of domains, may need the members that are counted apart."""
    return replace(
        group,
        policies=tuple(each for each in group.policies if each.monotone),
        relationships=tuple(
            each for each in group.relationships if each.monotone),
        groups=tuple(map(_monotone, group.groups)))


def _closing(incumbent: Incumbent) -> Iterator[ScopedPolicy]:
    """Monotone hard policies that close hosts to others. Their scopes are
    disjoint, and contain no member that stays."""
    seen: set[str] = set(incumbent.placed)
    for each in incumbent.policies:
        paths = {m.path for m in each.scope.members}
        if (each.policy.hard and each.policy.closes == HOST
                and each.policy.monotone and paths
                and seen.isdisjoint(paths)):
            seen |= paths
            yield each
