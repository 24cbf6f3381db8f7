# SPDX-License-Identifier: Apache-2.0
"""One pass of greedy construction, which places one member after another and
satisfies the rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import itertools

import numpy as np

from nova_holistic.solver.construct.checked_policies import CheckedPolicies
from nova_holistic.solver.construct.confinement import Confinement
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.case import Case, Counts, places
from nova_holistic.solver.problem.deadline import InTime


class Attempt:
    """One pass over all members.

    :ivar free: [resource class, host]: current free amount
    :ivar capacity: [resource class, host]: capacity, at least 1
    :ivar used_by_group: [host]: whether a member of the group is, or was, on
        it
    :ivar rule_counts: counts of the rules, which attempts share
    :ivar counts: counts of the members placed so far
    :ivar current: class of the member that ``run`` places now
    :ivar pending: [resource class]: amounts that this member and all later
        members of ``run`` request
    :ivar separates: whether members with traffic share a domain only if its
        uplink has capacity for them when all others are outside
    """

    def __init__(self, case: Case, score: Callable[['Attempt'], np.ndarray],
                 rule_counts: RuleCounts,
                 look_ahead: 'LookAhead | None' = None):
        """
        :param score: the ordering of the hosts
        :param look_ahead: the look-ahead of the case; None creates one
        """
        self.case = case
        self._look_ahead = look_ahead or LookAhead(case)
        self._places: dict[int, list[int]] = {}
        self._refused: dict[int, np.ndarray] = {}
        self._demand: dict[int, np.ndarray] = {}
        self._where = {path: case.table.hosts[host]
                       for path, host in case.placed.items()}
        self._score = score
        self._names = sorted({n for c in case.classes for n, _ in c.demands})
        columns = [case.table.amounts(n) for n in self._names]
        shape = (len(self._names), len(case.table))
        self.free = np.array([a.free for a in columns],
                             dtype=np.int64).reshape(shape)
        self.capacity = np.maximum(np.array(
            [a.capacity for a in columns], dtype=np.int64).reshape(shape), 1)
        self.used_by_group = np.zeros(len(case.table), dtype=bool)
        self.used_by_group[list(case.placed.values())] = True
        self.rule_counts = rule_counts
        self.counts: Counts = tuple({} for _ in case.classes)
        self.current = 0
        self.separates = False
        self.pending = np.zeros(len(self._names), dtype=np.int64)

    def fullness(self) -> np.ndarray:
        """Mean utilisation of each host, over the requested resources."""
        if not self._names:
            return np.zeros(len(self.used_by_group))
        return 1 - np.mean(np.clip(self.free / self.capacity, 0, 1), axis=0)

    def run(self, order: Sequence[int], avoid: Mapping[int, np.ndarray],
            in_time: InTime) -> int | None:
        """Place all members; return the class without a possible host, or
        None."""
        no_hosts = np.zeros(len(self.case.table))
        self.pending = sum((len(self.case.classes[c].members) * self.needs(c)
                            for c in order), 0 * self.pending)
        for c in self._in_turn(order):
            in_time()
            self.current = c
            host = self.choose(c, avoid.get(c, no_hosts))
            if host is None:
                return c
            self.put(c, host)
            self.pending -= self.needs(c)
        return None

    def _in_turn(self, order: Sequence[int]) -> Iterator[int]:
        """The class of each member, class by class. Classes with traffic
        between them alternate, so that their first members are placed early
        in domains where the traffic is possible."""
        checked, done = self._look_ahead.checked, set()
        for c in order:
            if c in done:
                continue
            together = [c, *(other for other in checked.peers(c)
                             if other in order and other not in done)]
            done.update(together)
            turns = [[each] * len(self.case.classes[each].members)
                     for each in together]
            for turn in itertools.zip_longest(*turns):
                yield from (each for each in turn if each is not None)

    def remove_class(self, c: int) -> None:
        """Remove all members of the class from their hosts."""
        for host, number in [*self.counts[c].items()]:
            for _ in range(number):
                self.take(c, host)

    def undo(self) -> None:
        """Remove all members from ``rule_counts``, because the next attempt
        uses the same object."""
        for place in places(self.counts):
            self.rule_counts.remove(*place)

    def needs(self, c: int) -> np.ndarray:
        """[resource class]: the amount that a member of the class requests."""
        if c not in self._demand:
            demand = dict(self.case.classes[c].demands)
            self._demand[c] = np.array([
                demand.get(n, 0) for n in self._names], dtype=np.int64)
        return self._demand[c]

    def choose(self, c: int, avoid: np.ndarray) -> int | None:
        """The best possible host for one more member of the class; None if no
        host is possible.

        Hosts are compared by how much they are avoided, then by cost, then by
        score. For classes with checked policies, uplink scores are compared
        as well: before all else if members of these policies are placed, and
        otherwise directly after how much the hosts are avoided.

        :param avoid: [host]: how much the host is avoided
        """
        allowed, cost = self.rule_counts.allowed_hosts(c)
        allowed &= self.case.room[c] > 0
        # A resource class without a request may be over-committed.
        for free, amount in zip(self.free, self.needs(c)):
            if amount:
                allowed &= free >= amount
        possible, better = self._look_ahead.confinement.allows(
            c, self.counts, self._names, self.free)
        if possible is not None:
            allowed &= possible
        if not self.is_checked(c):
            return _first(allowed, (avoid, cost, self._score(self)))
        # A refused host remains refused after more members are placed.
        if c in self._refused:
            allowed &= ~self._refused[c]
        checked = self._look_ahead.checked
        uplink_scores = checked.uplink_scores(c, self._where, self.separates)
        if better is not None:
            uplink_scores[better] = -1.0
        # The first member avoids the hosts of failed attempts.
        started = any(self.counts[each] for each in (
            c, *checked.peers(c)))
        first = ((uplink_scores, avoid) if started
                 else (avoid, uplink_scores))
        criteria = (*first, cost, self._score(self))
        for _ in range(limits().checked_hosts):
            host = _first(allowed, criteria)
            refused = None if host is None else checked.refused(
                c, self._next(c), host, self._where)
            if refused is None:
                return host
            allowed &= ~refused
            self._refused[c] = refused | self._refused.get(c, False)
        return None

    def first_possible(self, classes: Iterable[int],
                       avoid: Callable[[int], np.ndarray]
                       ) -> tuple[int, int] | None:
        """The first of the classes with a possible host, and this host; None
        if no class has one.

        Classes before it wait: after further members are placed in other
        domains, a limit of the difference between domains may permit them.

        :param avoid: returns how much each host is avoided by a class
        """
        for c in classes:
            host = self.choose(c, avoid(c))
            if host is not None:
                return c, host
        return None

    def reached(self, c: int) -> list[np.ndarray]:
        """For each scope and level of the rules of the class, and for each
        checked policy and its levels, [host]: 1 in domains that hold placed
        members of the scope or policy, else 0."""
        return [*self.rule_counts.reached(c),
                *self._look_ahead.checked.used_domains(c, self._where)]

    def is_checked(self, c: int) -> bool:
        """Whether checks of policies also restrict the hosts of the class."""
        return c in self._look_ahead.checked

    def _next(self, c: int) -> str:
        """Path of the next member of the class."""
        return self.case.classes[c].members[len(self._places.get(c, ()))].path

    def put(self, c: int, host: int) -> None:
        """Place one more member of the class on the host."""
        if self.is_checked(c):
            self._where[self._next(c)] = self.case.table.hosts[host]
            self._places.setdefault(c, []).append(host)
        self.free[:, host] -= self.needs(c)
        self.used_by_group[host] = True
        self.counts[c][host] = self.counts[c].get(host, 0) + 1
        self.rule_counts.add(c, host)

    def take(self, c: int, host: int) -> None:
        """Remove one member of the class from the host."""
        if self.is_checked(c):
            places, members = self._places[c], self.case.classes[c].members
            self._refused.clear()
            at, last = places.index(host), places.pop()
            del self._where[members[len(places)].path]
            if at < len(places):
                places[at] = last
                self._where[members[at].path] = self.case.table.hosts[last]
        self.free[:, host] += self.needs(c)
        self.counts[c][host] -= 1
        if not self.counts[c][host]:
            del self.counts[c][host]
        self.rule_counts.remove(c, host)


def _first(allowed: np.ndarray, criteria: Sequence[np.ndarray]) -> int | None:
    """The allowed host that is best by the criteria, in lexicographic order.
    """
    hosts = np.flatnonzero(allowed)
    for criterion in criteria:
        if len(hosts) < 2:
            break
        here = criterion[hosts]
        hosts = hosts[here <= here.min() + 1e-12]
    return int(hosts[0]) if len(hosts) else None


class LookAhead:
    """Conditions in addition to the counts, shared by all attempts."""

    def __init__(self, case: Case, uses_checks: bool = True):
        """:param uses_checks: whether to use the checks of policies"""
        self.checked = CheckedPolicies(case, uses_checks)
        self.confinement = Confinement(case, self.checked.policies)


def _emptiest(attempt: Attempt) -> np.ndarray:
    return attempt.fullness()


def fullest(attempt: Attempt) -> np.ndarray:
    """A score that prefers used hosts of the group, then full hosts."""
    return -2.0 * attempt.used_by_group - attempt.fullness()


def largest(attempt: Attempt) -> np.ndarray:
    """A score that prefers used hosts of the group, then hosts with much free
    capacity."""
    room = attempt.free / np.maximum(
        attempt.capacity.max(axis=1, keepdims=True), 1)
    return -2.0 * attempt.used_by_group - (
        room.min(axis=0) if len(room) else 0.0)


Ordering = Callable[[Attempt], np.ndarray]
"""[host]: a score; hosts with a low score come first."""

ORDERINGS = (_emptiest, fullest, largest)
