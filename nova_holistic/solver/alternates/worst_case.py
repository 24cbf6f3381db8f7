# SPDX-License-Identifier: Apache-2.0
"""The most that hard policies' rows can come to, whichever of its places each
member is at.

Members choose independently of one another. So the most that counts come to
is the sum of what each member adds at its worst place; and a domain may be
used where some member may be there, and is surely used where some member is
nowhere else. A row holds for every choice if it holds for that most.
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
    """What one member may be.

    :ivar tables: where it is counted
    :ivar domains: for each of them the numbers of domains that it may be in
    :ivar most: what it adds to the counts of each margin at its worst place
    :ivar settled: tables in which it must not leave its domain
    """

    tables: Sequence[Table]
    domains: list[set[int]]
    most: dict[Margin, float]
    settled: set[Table] = field(default_factory=set)


class WorstCase:
    """Which places members may be given beside those that they have.

    :ivar learned: how often a refusal told of more hosts than the one
    """

    def __init__(self, case: Case, places: Mapping[str, Sequence[int]]):
        """:param places: member path to indexes of hosts, of which the first
            is where it is; the others it has, whatever the rows say of them
        """
        self.learned = 0
        self._case = case
        self._margins = Margins.of(case)
        # The last place of each is for no domain.
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
        """Whether each host may suit: no, where that is known already.

        :param hosts: indexes of the hosts in question
        """
        choice = self._choices[path]
        suits = np.ones(len(hosts), dtype=bool)
        for table, mine in zip(choice.tables, choice.domains):
            closed = self._closed[table]
            if table in choice.settled:
                closed = np.ones(len(closed), dtype=bool)
            elif closed.any():
                closed = closed.copy()
            else:
                continue
            closed[list(mine)] = False
            suits &= ~closed[self._where(table)[hosts]]
        return suits

    def within_domains(self, path: str, hosts: np.ndarray) -> np.ndarray:
        """Hosts in domains where the member may be anyhow, of tables in which
        others were refused for that alone.

        :param hosts: indexes of the hosts in question
        """
        choice = self._choices[path]
        within_domains = np.ones(len(hosts), dtype=bool)
        for table, mine in zip(choice.tables, choice.domains):
            if table in self._avoided:
                inside = np.zeros(len(self._closed[table]), dtype=bool)
                inside[list(mine)] = True
                within_domains &= inside[self._where(table)[hosts]]
        return within_domains

    def admits(self, path: str, host: int) -> bool:
        """Whether every row holds, with the member there or elsewhere, and
        wherever all others are."""
        choice = self._choices[path]
        more = self._more(choice, host)
        for margin, amount in more.items():
            if margin.breaks(amount):
                self._learn(choice, host, margin)
                return False
        for free, (low, high) in self._left(more).items():
            if low > high:
                # Each of these would do, and not all at once.
                self._avoided.update(
                    slot[:2] for slot, _ in self._new_domains(choice, host)
                    if any(margin.free is free for margin, _
                           in self._margins.counts.get(slot, ())))
                return False
        return True

    def add(self, path: str, host: int) -> None:
        """The member may be there, too."""
        choice = self._choices[path]
        more = self._more(choice, host)
        for free, (low, high) in self._left(more).items():
            free.low, free.high = low, high
        for margin, amount in more.items():
            margin.now += amount
        here = self._added(choice.tables, host)
        choice.most = {
            margin: max(choice.most.get(margin, 0.0), here.get(margin, 0.0))
            for margin in here.keys() | choice.most.keys()}
        for slot, mine in self._new_domains(choice, host):
            self._possible_counts[slot] += 1
            if len(mine) == 1:
                self._certain_counts[*slot[:2], *mine] -= 1
            mine.add(slot[2])

    def _more(self, choice: _Choice, host: int) -> dict[Margin, float]:
        """By how much rows' most would grow, where it would."""
        here = self._added(choice.tables, host)
        more = {margin: grown for margin in here.keys() | choice.most.keys()
                if (grown := here.get(margin, 0.0)
                    - choice.most.get(margin, 0.0)) > 0}
        for margin, weight in self._changed_domains(choice, host):
            more[margin] = more.get(margin, 0.0) + weight
        return more

    def _added(self, tables: Sequence[Table], host: int
               ) -> dict[Margin, float]:
        """What a member counted in the tables adds to counts at a host."""
        found: dict[Margin, float] = {}
        for table in tables:
            slot = (*table, int(self._where(table)[host]))
            for margin, weight in self._margins.counts.get(slot, ()):
                found[margin] = found.get(margin, 0.0) + weight
        return found

    def _changed_domains(self, choice: _Choice, host: int
                         ) -> Iterator[tuple[Margin, float]]:
        """By domains that may become used, and that need not be any more."""
        for slot, mine in self._new_domains(choice, host):
            if not self._possible_counts[slot]:
                yield from ((margin, weight) for margin, weight
                            in self._margins.used.get(slot, ()) if weight > 0)
            if len(mine) == 1 and self._certain_counts[left := (*slot[:2],
                                                                *mine)] == 1:
                yield from ((margin, -weight) for margin, weight
                            in self._margins.used.get(left, ()) if weight < 0)

    def _new_domains(self, choice: _Choice, host: int
                     ) -> Iterator[tuple[Slot, set[int]]]:
        """Domains that the member was in at none of its places."""
        for table, mine in zip(choice.tables, choice.domains):
            number = int(self._where(table)[host])
            if number not in mine:
                yield (*table, number), mine

    @staticmethod
    def _left(more: Mapping[Margin, float]
              ) -> dict[FreeVariable, tuple[float, float]]:
        """What all of these together leave to variables."""
        found: dict[FreeVariable, tuple[float, float]] = {}
        for margin, amount in more.items():
            if margin.free is not None:
                low, high = margin.leaves(amount)
                least, most = found.get(margin.free, (low, high))
                found[margin.free] = max(low, least), min(high, most)
        return found

    def _learn(self, choice: _Choice, host: int, broken: Margin) -> None:
        """Limits only fill up: who is refused once is refused for good, and
        so are others that would add the same."""
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
            # It is for leaving a domain that it is refused.
            left = [slot[:2] for slot, mine in entered if any(
                weight < 0 for number in mine
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
        """Everyone where they are."""
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
