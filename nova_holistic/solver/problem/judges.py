# SPDX-License-Identifier: Apache-2.0
"""What a group's policies say of the hosts that one member more could be on,
asked of their checks; hosts that are alike to a policy are asked of once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nova_holistic.model.member import Member
from nova_holistic.model.policy import Policy
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.exact_weights import common_step, exact
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import Carried

_SORTS = 100
"""Sorts of hosts that a preference is asked about beforehand, at most."""

_EXACT = 2.0**53
"""Whole numbers up to this are exact as floats, and so are their sums."""

_DOUBT = 8
"""Refusals of one policy after which it is asked whether it does so wherever
the member is."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best host of one member.

    :ivar dislike: what preferences cost there, of those that look at it, in
        whole steps that all weights are multiples of
    """

    host: int
    dislike: int
    cost: float

    def is_worse(self, dislike: float, cost: float) -> bool:
        """Whether that would be better; preferences come first."""
        if dislike != self.dislike:
            return dislike < self.dislike
        return cost < self.cost


class Judge:
    """Policies, and where members are by now."""

    def __init__(self, table: HostTable, snapshot: Snapshot,
                 policies: Sequence[Carried], where: dict[str, Host],
                 used: set[int], deadline: Deadline):
        """
        :param where: of all members that have a host; kept up by the caller
        :param used: indexes of those hosts; kept up by the caller
        """
        self._table, self._snapshot = table, snapshot
        self._policies = policies
        self._where, self._used = where, used
        self._deadline = deadline
        self._fine: set[int] = set()
        self._step = common_step(
            exact(each.policy.weight) for each in policies
            if not each.policy.hard) or Fraction(1)

    def says(self, member: Member) -> bool:
        """Whether each policy says what it sees of the member's host."""
        return all(seen_of(each, member) is not None
                   for each in self._policies)

    def admitted(self, member: Member, hosts: np.ndarray) -> np.ndarray:
        """Those of the hosts on which no policy above the member rules it
        out, whoever else is there."""
        screens = [each.policy for each in self._policies
                   if each.policy.hard and each.scope.holds(member)
                   and type(each.policy).admits is not Policy.admits]
        for policy in screens:
            hosts = np.array([
                h for h in hosts.tolist()
                if policy.admits(self._table.hosts[h])], dtype=np.int64)
        return hosts

    def dislikes(self, member: Member, hosts: np.ndarray) -> np.ndarray:
        """What preferences cost with the member on each host, at least, in
        whole steps: those that would have to be asked too often are taken to
        cost nothing."""
        total = np.zeros(len(hosts))
        for each in self._policies:
            sorts = None if each.policy.hard or not seen_of(
                each, member) else self.sorts(each, member, hosts)
            if sorts is None:
                continue
            first, number = np.unique(
                sorts, return_index=True, return_inverse=True)[1:]
            if len(first) <= _SORTS:
                total += np.array([
                    self._cost(each, member, int(hosts[n]))
                    for n in first])[number.reshape(-1)]
        return total

    def first(self, member: Member, hosts: np.ndarray, costs: np.ndarray,
              dislikes: np.ndarray, looks: int) -> Best | None:
        """The best of the hosts; None where there is none, where it would
        take too many looks to know, or where costs are too large to be exact.

        :param hosts: by what preferences cost at least, then by cost
        """
        if dislikes.max(initial=0) >= _EXACT:
            return None
        left = np.ones(len(hosts), dtype=bool)
        best: Best | None = None
        refusals: Counter[int] = Counter()
        for _ in range(looks):
            self._deadline.check()
            if not left.any():
                return best
            n = int(left.argmax())
            if best is not None and not best.is_worse(dislikes[n], costs[n]):
                return best
            left[n] = False
            host = int(hosts[n])
            refusing = self._refusing(member, host)
            if refusing is None:
                disliked = sum(self._cost(each, member, host)
                               for each in self._policies
                               if not each.policy.hard
                               and seen_of(each, member) != {})
                if best is None or best.is_worse(disliked, costs[n]):
                    best = Best(host, disliked, float(costs[n]))
                continue
            refusals[refusing] += 1
            if refusals[refusing] == _DOUBT and self._broken(
                    refusing, member):
                break
            sorts = self.sorts(self._policies[refusing], member, hosts)
            if sorts is not None:
                left &= sorts != sorts[n]
        return None

    def _refusing(self, member: Member, host: int) -> int | None:
        """Number of a policy that does not hold with the member there."""
        for number, each in enumerate(self._policies):
            if not each.policy.hard:
                continue
            if seen_of(each, member) != {}:
                if self._violations(each, member, host):
                    return number
            elif number not in self._fine:
                if self._violations(each):
                    return number
                self._fine.add(number)
        return None

    def _broken(self, number: int, member: Member) -> bool:
        """Whether a policy is broken wherever the member is; as far as it
        says what it sees, it is so where the member is nowhere."""
        each = self._policies[number]
        return seen_of(each, member) is not None and bool(
            self._violations(each))

    def _cost(self, each: Carried, member: Member, host: int) -> int:
        return int(exact(each.policy.weight) / self._step) * (
            self._violations(each, member, host))

    def _violations(self, each: Carried, member: Member | None = None,
                    host: int = -1) -> int:
        """With the member on the host, and all others where they are."""
        where = self._where if member is None else {
            **self._where, member.path: self._table.hosts[host]}
        return each.policy.check(each.scope, where, self._snapshot).count

    def sorts(self, each: Carried, member: Member,
              hosts: np.ndarray) -> np.ndarray | None:
        """Numbers, equal for hosts that are alike to the policy; None where
        any two may differ."""
        seen = seen_of(each, member)
        if seen is None:
            return None
        sorts = np.zeros(len(hosts), dtype=np.int64)
        for level, differ in seen.items():
            division = self._table.division(level)
            domains = division.of_host[hosts]
            if not differ:
                # The last is the number of no domain, which stays itself.
                used = np.zeros(len(division.domains) + 1, dtype=bool)
                used[division.of_host[list(self._used)]] = True
                used[-1] = True
                domains = np.where(used[domains], domains, -2)
            sorts = np.unique(
                sorts * (len(division.domains) + 2) + domains + 2,
                return_inverse=True)[1].reshape(-1)
        return sorts


def seen_of(each: Carried, member: Member) -> Mapping[str, bool] | None:
    """What the policy says it sees of the member's host.

    What a class says is said of its own check, not of one that a subclass has
    put in its place.
    """
    for kind in type(each.policy).__mro__:
        if 'distinguishes' in vars(kind):
            return each.policy.distinguishes(each.scope, member)
        if 'check' in vars(kind):
            break
    return None
