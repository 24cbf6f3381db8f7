# SPDX-License-Identifier: Apache-2.0
"""Hard policies that greedy construction evaluates with their checks.

``RuleCounts`` counts members in domains. It cannot evaluate a policy whose
rows have additional variables, such as the bandwidth between two sides.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.construct.uplinks import missing_uplinks
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.rows import Kind, ScopedPolicy


class CheckedPolicies:
    """The policies that are checked, by class.

    All of them are monotone: placing more members does not remove a violation
    of such a policy.

    :ivar policies: all policies that are checked
    """

    def __init__(self, case: Case, uses_checks: bool = True):
        """:param uses_checks: whether any policies are checked"""
        self._case = case
        types = {type(row.carried.policy) for row in case.rules.rows
                 if row.carried.policy.hard and any(
                     atom.kind is Kind.FREE for atom, _ in row.terms)}
        without_rows = {id(each) for each in case.checked}
        checked = [each for each in case.policies
                   if uses_checks and each.policy.hard and each.policy.monotone
                   and (type(each.policy) in types
                        or id(each) in without_rows)]
        self.policies = checked
        self._shares: dict[str, np.ndarray] = {}
        self._missing: dict[int, np.ndarray] = {}
        self._of_class: Mapping[int, Sequence[ScopedPolicy]] = {
            c: found for c, members in enumerate(case.classes)
            if (found := [each for each in checked if any(
                map(each.scope.holds, members.members))])}
        classes: dict[int, set[int]] = {}
        for c, found in self._of_class.items():
            for each in found:
                classes.setdefault(id(each), set()).add(c)
        self._peers = {c: sorted(set().union(
            *(classes[id(each)] for each in found)) - {c})
            for c, found in self._of_class.items()}

    def __contains__(self, c: int) -> bool:
        """Whether any of these policies applies to a member of the class."""
        return c in self._of_class

    def peers(self, c: int) -> list[int]:
        """Other classes to which the policies of the class apply."""
        return self._peers.get(c, [])

    def uplink_scores(self, c: int, where: Mapping[str, Host],
                      separates: bool = False) -> np.ndarray:
        """[host]: a score; hosts with a low score are better.

        The score is -1 in a domain with placed members of the same policies,
        because traffic inside a domain uses no uplink. Elsewhere, a domain
        with less free uplink capacity has a higher score. If a policy has
        placed members, only the capacity for one more member counts.

        :param separates: whether the score is 1 in a domain with placed
            members whose uplink has no capacity for one more member if all
            other members are outside. Two members of different sides use more
            of the uplink than one, unless nearly all are in the domain
        """
        table = self._case.table
        found = np.zeros(len(table))
        for each in self._of_class[c]:
            used = self._hosts_of(each, where)
            for level in each.policy.levels:
                division = table.division(level)
                if len(used):
                    found = np.where(
                        np.isin(division.of_host, division.of_host[used]),
                        -1.0, np.maximum(found, self._missing_for(each)))
                    if separates:
                        found[self._overloaded_later(
                            each, c, level, where)] = 1.0
                else:
                    found += self._links(level)[division.of_host]
        return found

    def _overloaded_later(self, each: ScopedPolicy, c: int, level: str,
                          where: Mapping[str, Host]) -> np.ndarray:
        """[host]: whether its domain has placed members of the relationship,
        and its uplink has no capacity for one more member of the class if all
        other members are outside."""
        table, rule = self._case.table, each.policy
        of_host = table.division(level).of_host
        found = np.zeros(len(of_host), dtype=bool)
        if not isinstance(rule, Relationship) or not rule.limits_links:
            return found
        path = self._case.classes[c].members[0].path
        sides = rule.sides(each.scope)
        inside = [table.division(level).counts(table.indexes(
            where[m.path] for m in side if m.path in where))[:-1]
            for side in sides]
        used = np.flatnonzero(inside[0] + inside[1])
        for side, number in zip(sides, inside):
            number[used] += any(m.path == path for m in side)
        first, second = inside
        load = rule.traffic_mbps * (first * (len(sides[1]) - second)
                                    + second * (len(sides[0]) - first))
        full = used[load[used] > table.free_uplinks(level)[used]]
        return np.isin(of_host, full)

    def used_domains(self, c: int,
                     where: Mapping[str, Host]) -> Iterator[np.ndarray]:
        """[host], for each policy of the class and each of its levels: 1 in
        domains with placed members of the policy, otherwise 0."""
        for each in self._of_class.get(c, ()):
            used = self._hosts_of(each, where)
            for level in each.policy.levels:
                of_host = self._case.table.division(level).of_host
                yield np.isin(of_host, of_host[used]).astype(float)

    def _hosts_of(self, each: ScopedPolicy,
                  where: Mapping[str, Host]) -> np.ndarray:
        """Indexes of the hosts of the policy's placed members."""
        return self._case.table.indexes(
            where[m.path] for m in each.scope.members if m.path in where)

    def _links(self, level: str) -> np.ndarray:
        """[domain of the level]: 1 less the free capacity of its uplink, as a
        share of the largest free capacity; the last element is for hosts in no
        domain."""
        if level not in self._shares:
            free = self._case.table.free_uplinks(level)
            largest = max(1.0, free.max(initial=0.0, where=np.isfinite(free)))
            self._shares[level] = 1.0 - np.minimum(free, largest) / largest
        return self._shares[level]

    def _missing_for(self, each: ScopedPolicy) -> np.ndarray:
        if id(each) not in self._missing:
            self._missing[id(each)] = missing_uplinks(
                self._case.table, (each,))
        return self._missing[id(each)]

    def refused(self, c: int, path: str, host: int,
                where: Mapping[str, Host]) -> np.ndarray | None:
        """[host]: whether a policy refuses it for the same reason as this
        host; None if no policy refuses this host.

        :param path: path of a member of the class
        :param where: path to host of the members placed so far
        """
        case = self._case
        moved = {**where, path: case.table.hosts[host]}
        for each in self._of_class[c]:
            if each.policy.check(each.scope, moved, case.snapshot).count:
                return self._equivalent_hosts(
                    each, c, host) | self._outside_overloaded(
                        each, host, moved)
        return None

    def _outside_overloaded(self, each: ScopedPolicy, host: int,
                            moved: Mapping[str, Host]) -> np.ndarray:
        """[host]: whether a member on it overloads the same uplinks of other
        domains as on this host."""
        table = self._case.table
        found = np.zeros(len(table), dtype=bool)
        if isinstance(each.policy, Relationship):
            for domain in each.policy.overloaded(
                    each.scope, moved, self._case.snapshot):
                inside = np.zeros(len(table), dtype=bool)
                inside[table.hosts_of(domain.level, domain)] = True
                if not inside[host]:
                    found |= ~inside
        return found

    def _equivalent_hosts(self, each: ScopedPolicy, c: int,
                          host: int) -> np.ndarray:
        table = self._case.table
        seen = each.policy.distinguishes(
            each.scope, self._case.classes[c].members[0])
        if not seen:
            return np.arange(len(table)) == host
        alike = np.ones(len(table), dtype=bool)
        for level in seen:
            division = table.division(level).of_host
            alike &= division == division[host]
        return alike
