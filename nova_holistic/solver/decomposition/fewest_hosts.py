# SPDX-License-Identifier: Apache-2.0
"""Lower bounds of the number of hosts of a group, from its policies on domains
and from the limits of hosts.

A relaxation uses fractions of hosts: if a rack may hold a tenth of the
members, it uses a small share of a few large hosts in each of ten racks.
However, each domain with members has at least one host with members.

If a host may hold two of eight members, they need four hosts. A relaxation
merges the members of all groups that request the same amounts, so that it does
not know the limits of one group.
"""

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.decomposition.host_room import host_room
from nova_holistic.solver.decomposition.nested_domains import (
    hosts_of_nested_domains)
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, MaxSkew, MinDomains, Shape, shapes)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import Kinds, limited_scopes
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import Rules, scoped_policies


def countable(carried: Iterable[ScopedPolicy],
              rules: Rules) -> list[ScopedPolicy]:
    """The hard policies on levels above hosts, without relationships: the
    number of domains that each of them needs can be counted."""
    return within_domains([
        each for each in carried
        if each.policy.hard and each.policy.levels
        and HOST not in each.policy.levels
        and any(each.policy is other for other
                in each.scope.group.policies)], rules.table)


def within_domains(carried: Sequence[ScopedPolicy],
                   table: HostTable) -> list[ScopedPolicy]:
    """Those of the policies that have at most ``counted_domains`` domains
    together: first policies with few domains, then those of many members."""
    domains = [sum(len(table.division(level).domains)
                   for level in each.policy.levels) for each in carried]
    order = sorted(range(len(carried)), key=lambda n: (
        domains[n], -len(carried[n].scope.members)))
    total = np.cumsum([domains[n] for n in order])
    chosen = {n for n, sum_of in zip(order, total.tolist())
              if sum_of <= limits().counted_domains}
    return [each for n, each in enumerate(carried) if n in chosen]


def fewest_hosts(rules: Rules, placed: Mapping[str, int],
                 in_time: InTime) -> int:
    """Lower bound of the number of hosts that get members in any plan, not
    including the hosts of members that stay.

    :param rules: the hard policies
    :param placed: member path to host index, of members that stay
    """
    return max((_HostsNeeded(rules, shape, placed).hosts()
                for shape in shapes(rules, in_time)
                if isinstance(shape, CountCap | MaxSkew | MinDomains)
                and shape.level != HOST), default=0)


def counted_hosts(kinds: Kinds, rules: Rules,
                  in_time: InTime) -> tuple[int, int]:
    """Return the minimum over all policies on domains, including those on many
    domains, and the minimum over the limits of hosts."""
    every = Rules(kinds.table.part(None), rules.possible, rules.top,
                  rules.reach, in_time)
    every.encode(countable(scoped_policies(kinds.group), rules))
    found = fewest_hosts(every, kinds.placed, in_time)
    if kinds.placed:
        # The hosts of members that stay may hold further members.
        return found, 0
    return max(found, hosts_of_nested_domains(
        every, shapes(every, in_time), kinds, in_time)), hosts_of_limits(
            kinds, in_time)


class _HostsNeeded:
    """Lower bound of the number of hosts according to one shape.

    Domains with hosts of members that stay may take more members without a
    further host.

    :ivar new: number of members of the scope that do not stay
    :ivar placed_counts: [domain]: members of the scope that stay; the last
        number is for hosts in no domain
    """

    def __init__(self, rules: Rules, shape: Shape,
                 placed: Mapping[str, int]):
        self._shape = shape
        self._division = rules.table.division(shape.level)
        self._reach = rules.reach
        of_host = self._division.of_host
        self._held = {int(of_host[host]) for host in placed.values()}
        members = rules.scopes[shape.scope].members
        self._paths = [m.path for m in members if m.path not in placed]
        self.new = len(self._paths)
        self.placed_counts = self._division.counts([
            placed[m.path] for m in members if m.path in placed])

    def hosts(self) -> int:
        """The lower bound of the number of hosts for these members."""
        if not self.new:
            return 0
        if isinstance(self._shape, MinDomains):
            return self._shape.least - len(
                self._held & self._shape.domains)
        open_to = self._reachable_domains()
        if isinstance(self._shape, MaxSkew) and self._in_all(open_to):
            return len(self._shape.domains - self._held)
        left = self.new - sum(
            self._room(number) for number in open_to & self._held)
        found = 0
        for room in sorted((self._room(number)
                            for number in open_to - self._held), reverse=True):
            if left <= 0:
                break
            left -= room
            found += 1
        return found

    def _in_all(self, open_to: Set[int]) -> bool:
        """Whether an even spread uses every domain."""
        others = len(self._shape.domains) - 1
        # Members that stay may be in other domains.
        placed = int(self.placed_counts[[*self._shape.domains]].sum())
        return open_to <= self._shape.domains and (
            self.new + placed > others * self._shape.skew)

    def _reachable_domains(self) -> set[int]:
        """Domains that some of the members can use; -1 for hosts in no domain.
        """
        masks = {id(mask): mask for mask in (
            self._reach[path] for path in self._paths)}
        hosts = np.logical_or.reduce([*masks.values()])
        return {*self._division.of_host[hosts].tolist()}

    def _room(self, domain: int) -> int:
        """The maximum number of further members in the domain."""
        every = self.new + int(self.placed_counts.sum())
        return max(0, self._shape.most(domain, every)
                   - int(self.placed_counts[domain]))


def hosts_of_limits(kinds: Kinds, in_time: InTime) -> int:
    """Lower bound of the number of hosts that get members in any plan; 0 if
    nothing is proved.

    :param kinds: the members, none of which stays on its host
    """
    limited = sorted(
        limited_scopes(kinds.group),
        key=lambda each: -(len(each[1].members) / max(each[0], 1)))
    found = 0
    for most, scope in limited[:limits().nested_scopes]:
        in_time()
        members = np.minimum(host_room(
            kinds, (m.path for m in scope.members)), most)
        total = np.cumsum(np.sort(members)[::-1])
        hosts = int(np.searchsorted(total, len(scope.members))) + 1
        if hosts <= len(total):
            found = max(found, hosts)
    return found
