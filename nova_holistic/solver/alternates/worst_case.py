# SPDX-License-Identifier: Apache-2.0
"""The worst case of the rows of hard policies, over all combinations in which
each member is at one of its places.

The places of different members are independent. Therefore, the maximum of a
sum of counts is the sum of what each member adds at its worst place. A domain
is possibly used if some member may be in it, and certainly used if some member
is in no other domain. A row holds for every combination if it holds for this
worst case.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.evaluation.margins import (
    FreeVariable, Margin, Margins, Slot, Table, Weights)
from nova_holistic.solver.problem.case import Case


@dataclass(slots=True, eq=False)
class _Choice:
    """The places of one member.

    :ivar tables: the tables that count the member
    :ivar domains: for each table, the numbers of its possible domains
    :ivar most: its contribution to each margin at its worst place
    :ivar settled: tables in which it must not enter a further domain
    """

    tables: Sequence[Table]
    domains: list[set[int]]
    most: dict[Margin, float]
    settled: set[Table] = field(default_factory=set)


class WorstCase:
    """The worst case of the current places, and a test of further places.

    :ivar learned: number of refusals that exclude more than one host
    """

    def __init__(self, case: Case, places: Mapping[str, Sequence[int]]):
        """:param places: member path to indexes of hosts; the first is its
            current host, and the others are accepted without a check
        """
        self.learned = 0
        self._case = case
        self._margins = Margins.of(case)
        # The last element of each is for hosts in no domain.
        self._closed = {table: np.zeros(number + 1, dtype=bool)
                        for table, number in self._margins.tables.items()}
        self._possible_counts: Counter[Slot] = Counter()
        self._certain_counts: Counter[Slot] = Counter()
        self._avoided: set[Table] = set()
        self._choices = self._initial_choices(places)
        self._margins.freeze()
        for path, (_, *others) in places.items():
            for host in others:
                self.add(path, host)

    def possible(self, path: str, hosts: np.ndarray) -> np.ndarray:
        """Whether each host may be accepted; False if a previous refusal
        excludes it.

        :param hosts: indexes of the hosts in question
        """
        choice = self._choices[path]
        suits = np.ones(len(hosts), dtype=bool)
        for table, domains in zip(choice.tables, choice.domains):
            closed = self._closed[table]
            if table in choice.settled:
                closed = np.ones(len(closed), dtype=bool)
            elif closed.any():
                closed = closed.copy()
            else:
                continue
            closed[list(domains)] = False
            suits &= ~closed[self._where(table)[hosts]]
        return suits

    def within_domains(self, path: str, hosts: np.ndarray) -> np.ndarray:
        """Whether each host is in domains that are already possible for the
        member, in the tables to avoid.

        :param hosts: indexes of the hosts in question
        """
        choice = self._choices[path]
        within_domains = np.ones(len(hosts), dtype=bool)
        for table, domains in zip(choice.tables, choice.domains):
            if table in self._avoided:
                inside = np.zeros(len(self._closed[table]), dtype=bool)
                inside[list(domains)] = True
                within_domains &= inside[self._where(table)[hosts]]
        return within_domains

    def admits(self, path: str, host: int) -> bool:
        """Whether every row holds in all combinations if the member may also
        be on this host."""
        choice = self._choices[path]
        more = self._more(choice, host)
        for margin, amount in more.items():
            if margin.breaks(amount):
                self._learn(choice, host, margin)
                return False
        for free, (low, high) in self._left(more).items():
            if low > high:
                # Each of these rows can be satisfied, but not all of them.
                self._avoided.update(
                    slot[:2] for slot, _ in self._new_domains(choice, host)
                    if any(margin.free is free for margin, _
                           in self._margins.counts.get(slot, ())))
                return False
        return True

    def add(self, path: str, host: int) -> None:
        """Add the host to the places of the member."""
        choice = self._choices[path]
        more = self._more(choice, host)
        for free, (low, high) in self._left(more).items():
            free.low, free.high = low, high
        for margin, amount in more.items():
            margin.now += amount
        here = self._added(choice.tables, host)
        choice.most = {
            margin: max(choice.most.get(margin, 0.0), here.get(margin, 0.0))
            for margin in {**here, **choice.most}}
        for slot, own_domains in self._new_domains(choice, host):
            self._possible_counts[slot] += 1
            if len(own_domains) == 1:
                self._certain_counts[*slot[:2], *own_domains] -= 1
            own_domains.add(slot[2])

    def _more(self, choice: _Choice, host: int) -> dict[Margin, float]:
        """The increase of the worst case of each row, if it is positive."""
        here = self._added(choice.tables, host)
        more = {margin: grown for margin in {**here, **choice.most}
                if (grown := here.get(margin, 0.0)
                    - choice.most.get(margin, 0.0)) > 0}
        for margin, weight in self._changed_domains(choice, host):
            more[margin] = more.get(margin, 0.0) + weight
        return more

    def _added(self, tables: Sequence[Table], host: int
               ) -> dict[Margin, float]:
        """The contribution to each row of a member on the host that these
        tables count."""
        found: dict[Margin, float] = {}
        for table in tables:
            slot = (*table, int(self._where(table)[host]))
            for margin, weight in self._margins.counts.get(slot, ()):
                found[margin] = found.get(margin, 0.0) + weight
        return found

    def _changed_domains(self, choice: _Choice, host: int
                         ) -> Iterator[tuple[Margin, float]]:
        """Changes from domains that become possibly used, and from domains
        that are no longer certainly used."""
        for slot, own_domains in self._new_domains(choice, host):
            if not self._possible_counts[slot]:
                yield from ((margin, weight) for margin, weight
                            in self._margins.used.get(slot, ()) if weight > 0)
            left = (*slot[:2], *own_domains)
            if len(own_domains) == 1 and self._certain_counts[left] == 1:
                yield from ((margin, -weight) for margin, weight
                            in self._margins.used.get(left, ()) if weight < 0)

    def _new_domains(self, choice: _Choice, host: int
                     ) -> Iterator[tuple[Slot, set[int]]]:
        """Domains of the host that contain none of the member's places."""
        for table, domains in zip(choice.tables, choice.domains):
            number = int(self._where(table)[host])
            if number not in domains:
                yield (*table, number), domains

    @staticmethod
    def _left(more: Mapping[Margin, float]
              ) -> dict[FreeVariable, tuple[float, float]]:
        """The range that all these rows together leave to each variable."""
        found: dict[FreeVariable, tuple[float, float]] = {}
        for margin, amount in more.items():
            if margin.free is not None:
                low, high = margin.leaves(amount)
                least, most = found.get(margin.free, (low, high))
                found[margin.free] = max(low, least), min(high, most)
        return found

    def _learn(self, choice: _Choice, host: int, broken: Margin) -> None:
        """Record which other hosts a refusal excludes. The counts only grow,
        so a refusal is permanent and also applies to equal additions."""
        entered = list(self._new_domains(choice, host))
        filled = {}
        for slot, _ in entered:
            weight = sum(self._weights(broken, self._margins.counts, slot))
            if not self._possible_counts[slot]:
                weight += sum(w for w in self._weights(
                    broken, self._margins.used, slot) if w > 0)
            if weight > 0:
                filled[slot] = weight
        if not filled:
            # The member is refused because it would leave a domain.
            left = [slot[:2] for slot, own_domains in entered if any(
                weight < 0 for number in own_domains
                for found in (self._margins.counts, self._margins.used)
                for weight in self._weights(
                    broken, found, (*slot[:2], number)))]
            if len(left) == 1:
                choice.settled.add(left[0])
                self.learned += 1
        elif len(filled) == 1:
            (slot, weight), = filled.items()
            if broken.breaks(weight):
                self._closed[slot[:2]][slot[2]] = True
                self.learned += 1

    @staticmethod
    def _weights(margin: Margin, found: Weights,
                 slot: Slot) -> Iterator[float]:
        return (weight for each, weight in found.get(slot, ())
                if each is margin)

    def _where(self, table: Table) -> np.ndarray:
        return self._case.table.division(table[1]).of_host

    def _initial_choices(self, places: Mapping[str, Sequence[int]]
                         ) -> dict[str, _Choice]:
        """The choices with every member on its current host only."""
        levels: dict[int, list[Table]] = defaultdict(list)
        for table in self._closed:
            levels[table[0]].append(table)
        tables: dict[str, list[Table]] = {path: [] for path in places}
        for number, scope in enumerate(self._case.rules.scopes):
            for member in scope.members if number in levels else ():
                if member.path in tables:
                    tables[member.path].extend(levels[number])
        found = {}
        for path, (host, *_) in places.items():
            most = self._added(tables[path], host)
            for margin, amount in most.items():
                margin.now += amount
            numbers = [int(self._where(table)[host])
                       for table in tables[path]]
            found[path] = _Choice(
                tables[path], [{number} for number in numbers], most)
            for table, number in zip(tables[path], numbers):
                slot = (*table, number)
                if not self._possible_counts[slot]:
                    for margin, weight in self._margins.used.get(slot, ()):
                        margin.now += weight
                self._possible_counts[slot] += 1
                self._certain_counts[slot] += 1
        return found
