# SPDX-License-Identifier: Apache-2.0
"""Completion of a plan without some members of independent parts: greedy
construction places one part after another, on hosts in use if possible."""

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
import random

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.construct.attempt import Attempt
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.rows import ScopedPolicy

Part = frozenset[int]
"""Classes that policies connect with each other."""

_Place = tuple[int, int]
"""A class, and the host of one of its members."""

_Found = tuple[tuple[Fraction, int], list[_Place]]
"""Places of a part, after the cost of its preferences and the number of hosts
that no other member uses."""


class MissingParts:
    """Places the missing members of a plan.

    :param counts: the places of all other members
    """

    def __init__(self, case: Case, counts: Counts, chance: random.Random,
                 in_time: Callable[[], None]):
        self._case, self._chance, self._in_time = case, chance, in_time
        self._noise = 0.0
        self._attempt = Attempt(case, self._score,
                                RuleCounts(case, in_time))
        self._put((c, host) for c, host_counts in enumerate(counts)
                  for host, number in host_counts.items()
                  for _ in range(number))
        self._policies: dict[int, list[ScopedPolicy]] = {}
        class_of = {m.path: c for c, each in enumerate(case.classes)
                    for m in each.members}
        for each in case.policies:
            for c in {class_of[m.path] for m in each.scope.members
                      if m.path in class_of}:
                self._policies.setdefault(c, []).append(each)
        # The level and the classes of each policy that closes domains.
        self._closing = [
            (each.policy.closes,
             {class_of[m.path] for m in each.scope.members
              if m.path in class_of})
            for each in case.policies
            if each.policy.hard and each.policy.closes]

    def place(self, parts: Iterable[Part], known: Counts) -> Counts | None:
        """Place the missing members of the parts, part by part: first those
        that close their hosts to others, then those with the most missing
        members. If a part finds no hosts, all parts are placed again, and this
        part is the first. Return the counts of all members; None if no order
        leads to hosts for all of them.

        :param known: counts of a plan, whose hosts are used as a last resort
        :raises OutOfTime: if ``in_time`` does
        """
        start = self._places(range(len(self._case.classes)),
                             self._attempt.counts)
        order = sorted(parts, key=lambda each: (
            not any(every.policy.closes for c in each
                    for every in self._policies.get(c, ())),
            -len(self._missing(each)), min(each)))
        for _ in range(limits().orders):
            failed = next((each for each in order
                           if not self._place(each, known)), None)
            if failed is None:
                return self._attempt.counts
            order.remove(failed)
            order.insert(0, failed)
            self._take(self._places(range(len(self._case.classes)),
                                    self._attempt.counts))
            self._put(start)
        return None

    def _place(self, part: Part, known: Counts) -> bool:
        """Place the missing members of the part, and all of its members again
        if there is no other way to satisfy its policies and preferences.
        Return whether hosts are found."""
        missing = self._missing(part)
        kept = self._places(part, self._attempt.counts)
        found = self._best(part, missing) if missing else None
        if found is None or found[0][0]:
            self._take(kept)
            again = [each for each in (
                self._best(part, self._missing(part)),
                self._known_places(part, known)) if each is not None]
            if not again and found is None:
                return False
            best = min(again, default=None, key=lambda each: each[0])
            if found is None or best and best[0] < found[0]:
                found = best
            else:
                self._put(kept)
        self._put(found[1])
        return True

    @staticmethod
    def _places(classes: Iterable[int], counts: Counts) -> list[_Place]:
        """The place of each member of the classes that has one."""
        return [(c, host) for c in sorted(classes)
                for host, number in counts[c].items() for _ in range(number)]

    def _known_places(self, part: Part, known: Counts) -> _Found | None:
        """The places of the part in a known plan; None if these hosts have no
        room for it, or are closed to it."""
        places = self._places(part, known)
        hosts = {host for _, host in places}
        if self._are_closed(places):
            return None
        more = sum(not self._attempt.used_by_group[host] for host in hosts)
        self._put(places)
        cost = self._cost(part)
        fits = bool((self._attempt.free[:, [*hosts]] >= 0).all())
        self._take(places)
        return ((cost, more), places) if fits and cost is not None else None

    def _are_closed(self, places: Sequence[_Place]) -> bool:
        """Whether a policy closes the host of one of the places to it: a
        member that the policy applies to and another one would share a domain.

        :param places: places of members that have none in the attempt
        """
        counts = self._attempt.counts
        for level, classes in self._closing:
            of_host = self._case.table.division(level).of_host
            for inside in (True, False):
                own = [h for c, h in places if (c in classes) == inside]
                others = [h for c, host_counts in enumerate(counts)
                          if (c in classes) != inside for h in host_counts]
                if np.isin(of_host[own], of_host[others]).any():
                    return True
        return False

    def _missing(self, part: Part) -> list[int]:
        """The class of each member without a host."""
        return [c for c in sorted(part) for _ in range(
            len(self._case.classes[c].members)
            - sum(self._attempt.counts[c].values()))]

    def _best(self, part: Part, missing: Sequence[int]) -> _Found | None:
        """The places of the missing members with the lowest cost of
        preferences, and then the fewest further hosts, of several attempts
        with random order and noise."""
        used = self._attempt.used_by_group.copy()
        best: _Found | None = None
        for number in range(limits().part_attempts):
            self._in_time()
            self._noise = limits().part_noise if number else 0.0
            order = [*missing]
            if number:
                self._chance.shuffle(order)
            places = self._attempted(order)
            cost = None if places is None else self._cost(part)
            if cost is not None:
                value = cost, len({host for _, host in places
                                   if not used[host]})
                if best is None or value < best[0]:
                    best = value, places
            self._take(places or ())
            if best is not None and best[0] == (0, 0):
                break
        return best

    def _attempted(self, order: Iterable[int]) -> list[_Place] | None:
        """Place one member of each of the classes; None, without any of them,
        if a member finds no host."""
        places: list[_Place] = []
        nothing = np.zeros(len(self._case.table))
        for c in order:
            host = self._attempt.choose(c, nothing)
            if host is None:
                self._take(places)
                return None
            self._attempt.put(c, host)
            places.append((c, host))
        return places

    def _cost(self, part: Part) -> Fraction | None:
        """The cost of the preferences of the part; None if its places violate
        a hard policy."""
        case = self._case
        where: dict[str, Host] = {}
        for c in part:
            hosts = sorted((
                case.table.hosts[h] for h, number
                in self._attempt.counts[c].items() for _ in range(number)),
                key=lambda host: host.name)
            where.update((m.path, host) for m, host in zip(
                case.classes[c].members, hosts))
        policies = {id(each): each for c in part
                    for each in self._policies.get(c, ())}.values()
        # Policies that close hosts depend on the members of other parts, and
        # their rows are sufficient.
        if any(each.policy.check(each.scope, where, case.snapshot).count
               for each in policies
               if each.policy.hard and not each.policy.closes):
            return None
        return preference_cost(
            [each for each in policies if not each.policy.hard], where,
            case.snapshot)

    def _put(self, places: Iterable[_Place]) -> None:
        for c, host in places:
            self._attempt.put(c, host)

    def _take(self, places: Collection[_Place]) -> None:
        """Remove the members. Their hosts are in use only if others are on
        them."""
        for c, host in places:
            self._attempt.take(c, host)
        for host in {host for _, host in places}:
            self._attempt.used_by_group[host] = any(
                host in counts for counts in self._attempt.counts)

    def _score(self, attempt: Attempt) -> np.ndarray:
        """[host]: hosts in use come first, those with the least free capacity
        before all others, and then the unused hosts with the most."""
        free = (attempt.free / attempt.capacity).sum(axis=0)
        if self._noise:
            unit = np.frombuffer(self._chance.randbytes(
                len(free)), dtype=np.uint8) / 255
            free = free * (1 + self._noise * unit)
        most = free.max(initial=0.0)
        return np.where(attempt.used_by_group, free - most, -free + most)
