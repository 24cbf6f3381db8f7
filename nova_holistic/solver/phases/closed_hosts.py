# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the cost of members that close their hosts to all others.

No other member shares the cost of their hosts. Therefore, this bound and the
bound of all other members add up. The members need as many hosts as their
policies need domains, for example one in each zone for an even spread.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.model.cloud.domain import Domain, HOST
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.decomposition.fewest_hosts import (
    countable, fewest_hosts)
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hard_forms import only_rules
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import limit_per_host
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import Rules, scoped_policies


def without_closed_hosts(incumbent: Incumbent, group: Group,
                         host_cost: HostCost,
                         deadline: Deadline) -> tuple[Group, float]:
    """The group without members that close their hosts to others, and a lower
    bound of the cost of those members.

    :param group: the group of the incumbent; its policies may be different
    :raises OutOfTime: if the time ends before the bound is computed
    """
    members = group.all_members()
    closing = [*_closing(group, incumbent.placed)]
    apart = {m.path for each in closing for m in each.scope.members}
    rest = [m for m in members if m.path not in apart]
    if not closing or requested_classes(rest) != requested_classes(members):
        return group, 0.0
    table = HostTable.of(incumbent.snapshot)
    hosts = _ClosedHosts(group, table, MarginalCost(
        table, members, host_cost, ()), Eligibility(table),
        _countable(group))
    total = sum(hosts.least(each, deadline) for each in closing)
    return (only_monotone(group.only({m.path for m in rest})),
            total - SUM_ROUNDING * total)


@dataclass(frozen=True, slots=True)
class _ClosedHosts:
    """Bounds of the cost of members that close their hosts to others.

    :ivar policies: the first member of each policy that may count domains to
        these policies. A search of all policies for each policy that closes
        hosts would take seconds for groups of thousands of members
    :ivar masks: domains to [host]: whether the host is in one of them
    """

    group: Group
    table: HostTable
    costs: MarginalCost
    eligibility: Eligibility
    policies: Mapping[str, Sequence[ScopedPolicy]]
    masks: dict[frozenset[Domain], np.ndarray] = field(default_factory=dict)

    def least(self, each: ScopedPolicy, deadline: Deadline) -> float:
        """A lower bound of the cost of the policy's members, which share no
        host with others."""
        kinds: dict[tuple, list] = {}
        openings: list[float] = []
        reach: dict[str, np.ndarray] = {}
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
            reach[member.path] = kinds[key][1]
        openings.append(float(np.sort(self.costs.opening[
            np.logical_or.reduce([suits for _, suits, _ in kinds.values()])])[
                :self._fewest(reach, deadline)].sum()))
        return max(self.costs.least(
            [*kinds.values()], limit_per_host(each.scope)), *openings)

    def _fewest(self, reach: dict[str, np.ndarray],
                deadline: Deadline) -> int:
        """A lower bound of the number of hosts, from the hard policies on
        domains that apply only to the members.

        :param reach: path of each member to [host]: whether it suits the
            member
        """
        possible = np.logical_or.reduce([*reach.values()])
        rules = Rules(self.table.part(None), possible,
                      next(self.group.scopes()), reach, deadline.check)
        rules.encode(countable([
            each for path in reach for each in self.policies.get(path, ())
            if all(m.path in reach for m in each.scope.members)], rules))
        return fewest_hosts(rules, {}, deadline.check)

    def _suiting(self, each: ScopedPolicy, requirements: Requirements,
                 path: str) -> np.ndarray:
        """[host]: whether the host can hold the member. The policy is
        monotone: if the member alone violates it on a host, every plan with
        the member on this host violates it."""
        suits = self.eligibility.suitable(requirements)
        excluded = each.policy.excluded(self.table.snapshot)
        if excluded is not None:
            return suits & ~self._within(excluded)
        for host in np.flatnonzero(suits).tolist():
            suits[host] = not each.policy.check(
                each.scope, {path: self.table.hosts[host]},
                self.table.snapshot).count
        return suits

    def _within(self, domains: frozenset[Domain]) -> np.ndarray:
        """[host]: whether the host is in one of the domains."""
        if domains not in self.masks:
            found = np.zeros(len(self.table), dtype=bool)
            for level in {domain.level for domain in domains}:
                found |= self.table.division(level).mask(domains)
            self.masks[domains] = found
        return self.masks[domains]


def _countable(group: Group) -> dict[str, list[ScopedPolicy]]:
    """Policies that do not close hosts, by the path of their first member."""
    found: dict[str, list[ScopedPolicy]] = defaultdict(list)
    for each in scoped_policies(group):
        if each.scope.members and not each.policy.closes:
            found[each.scope.members[0].path].append(each)
    return found


def only_monotone(rest: Group) -> Group:
    """The group with only its monotone policies and relationships. They hold
    for the remaining members in every plan of the whole group. Other policies
    can need the members that were removed, for example a minimum number of
    domains, and slow the relaxation down.

    :param rest: a group from which members were removed
    """
    return only_rules(rest, lambda each: each.monotone)


def _closing(group: Group, placed: Collection[str]) -> Iterator[ScopedPolicy]:
    """Monotone hard policies that close hosts to others. Their scopes are
    disjoint, and contain no member that stays."""
    seen = {*placed}
    for each in scoped_policies(group):
        paths = {m.path for m in each.scope.members}
        if (each.policy.hard and each.policy.closes == HOST
                and each.policy.monotone and paths
                and seen.isdisjoint(paths)):
            seen |= paths
            yield each
