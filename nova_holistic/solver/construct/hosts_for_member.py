# SPDX-License-Identifier: Apache-2.0
"""Placement of one more member in a planned group; every other member stays.

This is an insertion search. It solves no program, so it takes milliseconds: it
evaluates each host once, with the checks of the policies. Hosts that a policy
does not distinguish (``Policy.distinguishes``) share one result of its check.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Objective, HostCost
from nova_holistic.model.policy import Policy
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.check import fits
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.utilisation_curve import cost_increase


@dataclass(frozen=True, slots=True)
class Insertion:
    """The problem of placing one more member.

    :ivar member: the new member, with resolved resources; the group has a
        member with this path
    :ivar placed: path to host of every other member that uses capacity; the
        snapshot counts this usage
    :ivar snapshot: the candidates, and the hosts that policies refer to; its
        ``Host.servers`` count no member of the group
    :ivar candidates: names of the hosts that may be chosen
    """

    group: Group
    member: Member
    placed: Mapping[str, Host]
    snapshot: Snapshot
    candidates: Collection[str]


def hosts_for_member(insertion: Insertion,
                     objective: Objective) -> tuple[str, ...]:
    """Names of the hosts that can take the member, the best first.

    Each host meets the member's requirements and has room for it, and the
    member adds no violation of a hard policy there. Violations that other
    members cause do not count. The hosts are ordered by the weighted
    violations of preferences that the member adds, then by the increase of the
    objective, then as in the snapshot. An objective without a host cost orders
    only the first ``checked_hosts`` (a limit) hosts.
    """
    rules = _Rules(insertion)
    costs = {}
    for host in insertion.snapshot.hosts:
        if (host.name in insertion.candidates
                and fits(insertion.member, host, insertion.snapshot)):
            cost = rules.cost(host)
            if cost is not None:
                costs[host] = cost
    found = sorted(costs, key=costs.__getitem__)
    value = _objective_cost(insertion, objective, found)
    found.sort(key=lambda host: (costs[host], value(host)))
    return tuple(host.name for host in found)


class _Rules:
    """The policies that apply to the member, hard policies first. Each keeps
    the results of its checks."""

    def __init__(self, insertion: Insertion):
        self._insertion = insertion
        self._rules = [
            _Rule(insertion, scope, policy)
            for scope in insertion.group.scopes()
            if scope.holds(insertion.member) for policy in scope.group.rules]
        # If a hard policy rejects a host, no other check is needed.
        self._rules.sort(key=lambda rule: not rule.policy.hard)

    def cost(self, host: Host) -> float | None:
        """Weighted violations that the member adds at the host; None if it
        violates a hard policy there."""
        total = 0.0
        for rule in self._rules:
            added = rule.added(host)
            if rule.policy.hard and added > 0:
                return None
            total += (rule.policy.weight or 0.0) * added
        # Sums of the same weights in different orders differ by rounding.
        return round(total, 9)


class _Rule:
    """One policy of one scope, with a cache of the results of its checks."""

    def __init__(self, insertion: Insertion, scope: Scope, policy: Policy):
        self.policy = policy
        self._insertion = insertion
        self._scope = scope
        self._levels = policy.distinguishes(scope, insertion.member)
        self._used = {level: self._domains(level)
                      for level in self._levels or ()}
        self._without: int | None = None
        self._answers: dict[Hashable, int] = {}

    def added(self, host: Host) -> int:
        """Violations with the member at the host minus those without it."""
        key = self._key(host)
        if key not in self._answers:
            self._answers[key] = self._added(host)
        return self._answers[key]

    def _added(self, host: Host) -> int:
        insertion = self._insertion
        moved = {**insertion.placed, insertion.member.path: host}
        count = self._count(moved)
        if count and self._without is None:
            self._without = self._count(insertion.placed)
        return count - (self._without or 0)

    def _count(self, placement: Mapping[str, Host]) -> int:
        return self.policy.check(
            self._scope, placement, self._insertion.snapshot).count

    def _key(self, host: Host) -> Hashable:
        """A key that is equal for hosts that the policy does not
        distinguish."""
        if self._levels is None:
            return host.name
        return tuple(self._domain_key(host, level, distinguishes_domains)
                     for level, distinguishes_domains in self._levels.items())

    def _domain_key(self, host: Host, level: str,
                    distinguishes_domains: bool) -> Hashable:
        domain = self._insertion.snapshot.domain(host, level)
        if (distinguishes_domains or domain is None
                or domain in self._used[level]):
            return domain
        return 'without members'

    def _domains(self, level: str) -> frozenset[Domain | None]:
        snapshot = self._insertion.snapshot
        return frozenset(snapshot.domain(host, level)
                         for host in self._insertion.placed.values())


def _objective_cost(insertion: Insertion, objective: Objective,
                    found: Sequence[Host]) -> Callable[[Host], float]:
    """A function that returns the increase of the objective at a host.

    :param found: the hosts, those with the fewest violations first
    """
    objective = objective.for_group(insertion.group)
    members = [each for each in insertion.group.all_members()
               if each.path in insertion.placed] + [insertion.member]
    host_cost = objective.host_cost()
    if host_cost is not None:
        return _hosts_cost(insertion, host_cost, requested_classes(members))
    placed = {path: host.name for path, host in insertion.placed.items()}
    values = {host.name: objective.value(
        members, {**insertion.placed, insertion.member.path: host}, placed,
        insertion.snapshot) for host in found[:limits().checked_hosts]}
    return lambda host: values.get(host.name, float('inf'))


def _hosts_cost(insertion: Insertion, host_cost: HostCost,
                classes: Sequence[str]) -> Callable[[Host], float]:
    used = {host.name for host in insertion.placed.values()}
    return lambda host: cost_increase(
        host_cost, host, classes, insertion.member.requirements.resources,
        host.name in used)
