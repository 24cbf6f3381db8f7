# SPDX-License-Identifier: Apache-2.0
"""The counts in the rules while members are placed one after another."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.evaluation.limit import Limit, VariableBound
from nova_holistic.solver.numerics.tolerances import UNLIMITED_COUNT
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.rows import Atom, Kind


@dataclass(slots=True)
class _Stale:
    """The stale results of a scope and level.

    :ivar domains: numbers of single domains
    :ivar alike: numbers of conditions that several domains have
    """

    domains: set[int] = field(default_factory=set)
    alike: set[int] = field(default_factory=set)


class RuleCounts:
    """For each scope and level, the domains that accept one more member.

    Results are cached per domain. A stale result is updated at its next use,
    so that the choice among all hosts only reads arrays. Domains with the same
    conditions have the same result while they hold no member, and are updated
    together.
    """

    def __init__(self, case: Case, in_time: InTime = no_limit):
        self._case = case
        self._in_time = in_time
        # For each scope and level: domain to its number of members, if any.
        self._number: dict[tuple[int, str], Counter[int]] = (
            defaultdict(Counter))
        self._limits: dict[Atom, list[tuple[Limit, float]]] = (
            defaultdict(list))
        self._bounds: dict[Limit, VariableBound] = {}
        self._reach: dict[Limit, dict[tuple[int, str], _Stale]] = {}
        self._price: dict[Atom, float] = defaultdict(float)
        self._slots: dict[tuple[int, str, int], list[Atom]] = (
            defaultdict(list))
        # The number of the conditions of each domain, and all domains of it.
        self._alike: dict[tuple[int, str, int], int] = {}
        self._domains: dict[int, np.ndarray] = {}
        self._bad: dict[tuple[int, str], np.ndarray] = {}
        self._cost: dict[tuple[int, str], np.ndarray] = {}
        self._tables: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._class_tables: dict[int, list[tuple[int, str]]] = {}
        self._domain_of: dict[tuple[int, str], np.ndarray] = {}
        self._seen: set[Atom] = set()
        self._most: dict[tuple[int, str], int] = {}
        self._read_rules()
        self._stale: dict[tuple[int, str], _Stale] = {
            table: _Stale() for table in self._bad}
        for table in self._bad:
            for host in case.placed_in(table[0]):
                self._move(table, host, 1)
        for slot in self._slots:
            self._mark(self._stale[slot[:2]], slot)

    def allowed_hosts(self, c: int, left: int | None = None
                      ) -> tuple[np.ndarray, np.ndarray]:
        """[host]: whether the rules allow one more member of the class, and at
        what cost.

        :param left: host that the member has just left; it may return to the
            domains of this host, even if the rules do not allow it
        """
        hosts = len(self._case.table)
        allowed = np.ones(hosts, dtype=bool)
        cost = np.zeros(hosts)
        for table in self._of_class(c):
            self._update(table)
            where = self._domain_of[table]
            accepted = ~self._bad[table][where]
            if left is not None:
                accepted |= where == where[left]
            allowed &= accepted
            cost += self._cost[table][where]
        return allowed, cost

    def at(self, c: int, host: int) -> tuple[bool, float]:
        """Whether the rules allow one more member on the host, and at what
        cost."""
        cost = 0.0
        for table in self._of_class(c):
            self._update(table)
            where = self._domain_of[table][host]
            if self._bad[table][where]:
                return False, 0.0
            cost += self._cost[table][where]
        return True, cost

    def add(self, c: int, host: int) -> None:
        """Count one more member of the class on the host."""
        for table in self._of_class(c):
            self._move(table, host, 1)

    def remove(self, c: int, host: int) -> None:
        """Count one member less of the class on the host."""
        for table in self._of_class(c):
            self._move(table, host, -1)

    def reached(self, c: int) -> Iterator[np.ndarray]:
        """For each scope and level of the class, [host]: 1 in domains that
        hold members of the scope, else 0."""
        for table in self._of_class(c):
            used = np.zeros(len(self._bad[table]))
            used[list(self._number[table])] = 1.0
            yield used[self._domain_of[table]]

    def _of_class(self, c: int) -> list[tuple[int, str]]:
        if c not in self._class_tables:
            scopes = sorted(self._case.classes[c].scopes)
            self._class_tables[c] = [
                table for scope in scopes for table in self._tables[scope]]
        return self._class_tables[c]

    def _read_rules(self) -> None:
        rules = self._case.rules
        for carried, terms, _ in rules.penalties:
            for atom, coefficient in terms:
                self._price[atom] += coefficient * carried.policy.weight
                self._register(atom)
        bounds: dict[Atom, VariableBound] = {}
        for row in rules.rows:
            self._in_time()
            for atom, _ in row.terms:
                self._register(atom)
            # Of an equation, only the upper limit is used; see Limit.
            limit = Limit(row, row.upper_signs[0], self._price)
            limit.bind(bounds, self._price)
            for atom, weight in limit.atoms:
                self._limits[atom].append((limit, weight))
        for limit in rules.limits:
            table = (limit.scope, limit.level)
            self._most[table] = min(limit.most,
                                    self._most.get(table, limit.most))
            self._allocate(table)
        for bound in bounds.values():
            bound.refresh()
            self._bounds.update(
                (limit, bound) for limit, _ in bound.limits)
        for limit in dict.fromkeys(
                limit for limits in self._limits.values()
                for limit, _ in limits):
            limit.refresh()
        numbers, domains = {}, defaultdict(list)
        for slot, atoms in self._slots.items():
            key: list[Hashable] = [*slot[:2]]
            for atom in atoms:
                key += atom.kind, self._price.get(atom, 0.0)
                for limit, weight in self._limits[atom]:
                    key += limit.while_empty(), weight
            alike = numbers.setdefault(tuple(key), len(numbers))
            self._alike[slot] = alike
            domains[alike].append(slot[2])
        self._domains = {
            alike: np.array(some) for alike, some in domains.items()
            if len(some) > 1}

    def _register(self, atom: Atom) -> None:
        if atom.kind is Kind.FREE or atom in self._seen:
            return
        self._seen.add(atom)
        self._allocate((atom.scope, atom.level))
        number = self._case.table.domain_number(atom)
        if number is not None:
            self._slots[atom.scope, atom.level, number].append(atom)

    def _allocate(self, table: tuple[int, str]) -> None:
        if table not in self._bad:
            # The last element is for hosts in no domain: index -1.
            division = self._case.table.division(table[1])
            size = len(division.domains) + 1
            self._domain_of[table] = division.of_host
            self._bad[table] = np.zeros(size, dtype=bool)
            self._cost[table] = np.zeros(size)
            self._tables[table[0]].append(table)

    def _move(self, table: tuple[int, str], host: int, by: int) -> None:
        """Add or remove a member, and mark the domains whose results may
        change as stale."""
        members, number = self._number[table], int(
            self._domain_of[table][host])
        here = (*table, number)
        before = members[number]
        members[number] += by
        # The use of a domain changes only with its first or last member.
        emptied_or_filled = not before or not members[number]
        if not members[number]:
            del members[number]
        if here in self._slots or table in self._most:
            self._stale[table].domains.add(number)
        for atom in self._slots.get(here, ()):
            if atom.kind is Kind.USED and not emptied_or_filled:
                continue
            for limit, weight in self._limits[atom]:
                limit.now += weight * by
                self._refresh(limit)
                bound = self._bounds.get(limit)
                if bound and bound.refresh():
                    for extended in bound.extended:
                        self._refresh(extended)

    def _refresh(self, limit: Limit) -> None:
        """Update the outcomes of the limit. If one of them changes, mark all
        results that depend on the limit as stale."""
        if not limit.refresh():
            return
        if limit not in self._reach:
            reach: dict[tuple[int, str], _Stale] = defaultdict(_Stale)
            for slot in map(self._slot_of, (atom for atom, _ in limit.atoms)):
                if slot in self._slots:
                    self._mark(reach[slot[:2]], slot, len(limit.atoms) > 1)
            self._reach[limit] = reach
        for table, stale in self._reach[limit].items():
            self._stale[table].domains |= stale.domains
            self._stale[table].alike |= stale.alike

    def _mark(self, stale: '_Stale', slot: tuple[int, str, int],
              together: bool = True) -> None:
        """Mark a domain as stale.

        :param together: whether all domains of the same conditions are stale
        """
        alike = self._alike[slot]
        if together and alike in self._domains:
            stale.alike.add(alike)
        else:
            stale.domains.add(slot[2])

    def _update(self, table: tuple[int, str]) -> None:
        stale, members = self._stale[table], self._number[table]
        bad, cost = self._bad[table], self._cost[table]
        for alike in stale.alike:
            some = self._domains[alike]
            empty = next((each for each in some.tolist()
                          if each not in members), None)
            if empty is not None:
                bad[some], cost[some] = self._evaluate((*table, empty))
        if stale.alike:
            stale.domains.update(
                each for each in members
                if self._alike.get((*table, each)) in stale.alike)
            stale.alike.clear()
        for number in stale.domains:
            bad[number], cost[number] = self._evaluate((*table, number))
        stale.domains.clear()

    def _slot_of(self, atom: Atom) -> tuple[int, str, int]:
        number = self._case.table.domain_number(atom)
        return atom.scope, atom.level, -1 if number is None else number

    def _evaluate(self, slot: tuple[int, str, int]) -> tuple[bool, float]:
        """Whether the domain accepts no more member, and the cost of one."""
        table, cost = slot[:2], 0.0
        members = self._number[table].get(slot[2], 0)
        bad = slot[2] >= 0 and members >= self._most.get(
            table, UNLIMITED_COUNT)
        for atom in self._slots.get(slot, ()):
            if atom.kind is Kind.USED and members:
                continue
            cost += self._price.get(atom, 0.0)
            for limit, weight in self._limits[atom]:
                breaks, more = limit.outcomes[weight]
                bad = bad or breaks
                cost += more
        return bad, cost
