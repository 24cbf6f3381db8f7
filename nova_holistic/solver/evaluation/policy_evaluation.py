# SPDX-License-Identifier: Apache-2.0
"""The evaluation of the policies of a group for one more member on each
possible host.

The evaluation uses the checks of the policies. A policy is checked only once
for hosts that it does not distinguish.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.policy import Policy
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.numerics.exact_weights import common_step, exact
from nova_holistic.solver.numerics.tolerances import EXACT_FLOATS
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import ScopedPolicy


@dataclass(frozen=True, slots=True)
class Best:
    """The best host of one member.

    :ivar preference_cost: cost on this host of the preferences that depend on
        the host, in steps of which all weights are integer multiples
    """

    host: int
    preference_cost: int
    cost: float

    def is_worse(self, preference_cost: float, cost: float) -> bool:
        """Whether this host is worse than a host with these costs;
        preferences come first."""
        if preference_cost != self.preference_cost:
            return preference_cost < self.preference_cost
        return cost < self.cost


class PolicyEvaluation:
    """The policies, and the current hosts of members."""

    def __init__(self, table: HostTable, snapshot: Snapshot,
                 policies: Sequence[ScopedPolicy], where: Mapping[str, Host],
                 used: Collection[int]):
        """
        :param where: path to host of all members that have a host; the caller
            may update it
        :param used: indexes of these hosts; the caller may update it
        """
        self._table, self._snapshot = table, snapshot
        self._policies = policies
        self._where, self._used = where, used
        self._kept: set[int] = set()
        self._step = common_step(
            exact(each.policy.weight) for each in policies
            if not each.policy.hard) or Fraction(1)

    def is_described(self, member: Member) -> bool:
        """Whether each policy declares the levels that it distinguishes."""
        return all(distinguished_levels(each, member) is not None
                   for each in self._policies)

    def admitted(self, member: Member, hosts: np.ndarray) -> np.ndarray:
        """Those of the hosts that all hard policies above the member admit for
        it, regardless of other members."""
        screens = [each.policy for each in self._policies
                   if each.policy.hard and each.scope.holds(member)
                   and type(each.policy).admits is not Policy.admits]
        for policy in screens:
            hosts = np.array([
                h for h in hosts.tolist()
                if policy.admits(self._table.hosts[h])], dtype=np.int64)
        return hosts

    def preference_costs(self, member: Member,
                         hosts: np.ndarray) -> np.ndarray:
        """A lower bound of the cost of preferences, in steps, with the member
        on each host. Preferences that would need too many checks count as
        0."""
        total = np.zeros(len(hosts))
        for each in self._policies:
            if each.policy.hard or not distinguished_levels(each, member):
                continue
            first, number = self._first_of_types(each, member, hosts)
            if len(first) <= limits().checked_hosts:
                total += np.array([
                    self._cost(each, member, int(hosts[n]))
                    for n in first])[number]
        return total

    def added_violations(self, each: ScopedPolicy, member: Member,
                         hosts: np.ndarray) -> np.ndarray:
        """[host]: the violations with the member on this host minus those
        without the member."""
        first, number = self._first_of_types(each, member, hosts)
        found = np.array([self._violations(each, member, int(hosts[n]))
                          for n in first], dtype=np.int64)
        if found.any():
            found -= self._violations(each)
        return found[number]

    def first(self, member: Member, hosts: np.ndarray, costs: np.ndarray,
              preference_costs: np.ndarray,
              deadline: Deadline) -> Best | None:
        """The best of the hosts; None if no host is possible, if the search
        would need too many checks, or if costs are too large to be exact.

        :param hosts: hosts, ordered by the lower bound of the cost of
            preferences, then by cost
        :raises OutOfTime: if the time ends before the search
        """
        if preference_costs.max(initial=0) >= EXACT_FLOATS:
            return None
        left = np.ones(len(hosts), dtype=bool)
        best: Best | None = None
        refusals: set[int] = set()
        for _ in range(limits().checked_hosts):
            deadline.check()
            if not left.any():
                return best
            n = int(left.argmax())
            if best is not None and not best.is_worse(preference_costs[n],
                                                      costs[n]):
                return best
            left[n] = False
            host = int(hosts[n])
            refusing = self._refusing(member, host)
            if refusing is None:
                preference_cost = self._preference_cost(member, host)
                if best is None or best.is_worse(preference_cost, costs[n]):
                    best = Best(host, preference_cost, float(costs[n]))
                continue
            each = self._policies[refusing]
            if refusing not in refusals:
                refusals.add(refusing)
                if each.policy.monotone and self._violations(each):
                    # It is violated without the member, and thus on any host.
                    return None
            host_types = self.host_types(each, member, hosts)
            if host_types is not None:
                left &= host_types != host_types[n]
        return None

    def _preference_cost(self, member: Member, host: int) -> int:
        """Cost of the preferences that depend on the member's host."""
        return sum(self._cost(each, member, host) for each in self._policies
                   if not each.policy.hard
                   and distinguished_levels(each, member) != {})

    def _refusing(self, member: Member, host: int) -> int | None:
        """Index of a hard policy that is violated with the member on the host;
        None if all hold."""
        for number, each in enumerate(self._policies):
            if not each.policy.hard:
                continue
            if distinguished_levels(each, member) != {}:
                if self._violations(each, member, host):
                    return number
            elif number not in self._kept:
                if self._violations(each):
                    return number
                self._kept.add(number)
        return None

    def _cost(self, each: ScopedPolicy, member: Member, host: int) -> int:
        return int(exact(each.policy.weight) / self._step) * (
            self._violations(each, member, host))

    def _violations(self, each: ScopedPolicy, member: Member | None = None,
                    host: int = -1) -> int:
        """The number of violations with the member on the host and all others
        on their current hosts."""
        where = self._where if member is None else {
            **self._where, member.path: self._table.hosts[host]}
        return each.policy.check(each.scope, where, self._snapshot).count

    def _first_of_types(self, each: ScopedPolicy, member: Member,
                        hosts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the first host of each type, and [host]: the number
        of its type."""
        host_types = self.host_types(each, member, hosts)
        if host_types is None:
            return np.arange(len(hosts)), np.arange(len(hosts))
        first, number = np.unique(
            host_types, return_index=True, return_inverse=True)[1:]
        return first, number.reshape(-1)

    def host_types(self, each: ScopedPolicy, member: Member,
                   hosts: np.ndarray) -> np.ndarray | None:
        """Numbers that are equal for hosts that the policy does not
        distinguish; None if any two hosts may differ."""
        seen = distinguished_levels(each, member)
        if seen is None:
            return None
        host_types = np.zeros(len(hosts), dtype=np.int64)
        for level, differ in seen.items():
            division = self._table.division(level)
            domains = division.of_host[hosts]
            if not differ:
                # The last element is for hosts in no domain.
                used = np.zeros(len(division.domains) + 1, dtype=bool)
                used[division.of_host[list(self._used)]] = True
                used[-1] = True
                domains = np.where(used[domains], domains, -2)
            host_types = np.unique(
                host_types * (len(division.domains) + 2) + domains + 2,
                return_inverse=True)[1].reshape(-1)
        return host_types


def distinguished_levels(each: ScopedPolicy,
                         member: Member) -> Mapping[str, bool] | None:
    """The levels that the policy distinguishes for the member's host, as it
    declares; None if it declares nothing.

    The declaration of a class applies to the check of this class. If a
    subclass overrides only the check, the declaration is ignored.
    """
    for kind in type(each.policy).__mro__:
        if 'distinguishes' in vars(kind):
            return each.policy.distinguishes(each.scope, member)
        if 'check' in vars(kind):
            break
    return None
