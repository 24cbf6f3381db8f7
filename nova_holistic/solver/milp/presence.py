# SPDX-License-Identifier: Apache-2.0
"""Presence of members: their number in a place, and whether there are any."""

from collections.abc import Iterator
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulp import LpAffineExpression, LpVariable

from nova_holistic.solver.problem.rows import Atom

if TYPE_CHECKING:
    from nova_holistic.solver.milp.program import Program


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """Members of one scope in one domain or on one host.

    :ivar places: (class, host) of the members that may be placed there
    :ivar constant: number of members that stay there
    """

    places: tuple[tuple[int, int], ...]
    constant: int


_EMPTY_COUNT = ScopeCount((), 0)


class Presence:
    """Counts, and binaries that are 1 if and only if a count is positive.

    A binary is created when it is first needed, and only once for equal
    places.
    """

    def __init__(self, program: 'Program'):
        self._program = program
        self._placed_counts = Counter(program.case.placed.values())
        self._used: dict[tuple, tuple[ScopeCount, LpVariable]] = {}
        self._places: dict[tuple[int, str], dict[int, ScopeCount]] = {}

    def scope_count(self, atom: Atom) -> ScopeCount:
        """The members that an atom of the rules counts."""
        key = (atom.scope, atom.level)
        if key not in self._places:
            self._places[key] = self._by_domain(*key)
        return self._places[key].get(
            self._program.case.table.domain_number(atom), _EMPTY_COUNT)

    def whole_host(self, host: int) -> ScopeCount:
        """All members of the group on one host."""
        return ScopeCount(
            tuple((c, host) for c in self._program.classes_on(host)),
            self._placed_counts[host])

    def number(self, scope_count: ScopeCount) -> LpAffineExpression:
        """The number of these members."""
        x = self._program.x
        return LpAffineExpression(
            [(x[c][h], 1) for c, h in scope_count.places],
            constant=scope_count.constant)

    def of(self, scope_count: ScopeCount) -> LpAffineExpression:
        """1 if any of the members is in the place, else 0."""
        if scope_count.constant or not scope_count.places:
            return LpAffineExpression(constant=float(scope_count.constant > 0))
        if scope_count.places not in self._used:
            self._used[scope_count.places] = (
                scope_count, self._binary(scope_count))
        return LpAffineExpression(self._used[scope_count.places][1])

    def host_binary(self, host: int) -> LpVariable | None:
        """The binary of all members on a host, if it was created."""
        found = self._used.get(self.whole_host(host).places)
        return found[1] if found else None

    def variables(self) -> Iterator[tuple[ScopeCount, LpVariable]]:
        """Yield each binary and the members whose presence it represents."""
        yield from self._used.values()

    def _binary(self, scope_count: ScopeCount) -> LpVariable:
        program = self._program
        used = program.binary()
        count = self.number(scope_count)
        members = sum(len(program.case.classes[c].members)
                      for c in {c for c, _ in scope_count.places})
        most = min(members, sum(v.upBound for v in count))
        # Members are only in places that are used.
        program.require(count <= used * most)
        # A used place holds at least one member.
        program.require(count >= used)
        return used

    def _by_domain(self, scope: int, level: str) -> dict[int, ScopeCount]:
        """Members of the scope by the index of the domain; -1 for hosts in no
        domain."""
        case = self._program.case
        where = case.table.division(level).of_host.tolist()
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for c in case.classes_in(scope):
            for h in self._program.x[c]:
                places[where[h]].append((c, h))
        placed_counts = Counter(where[h] for h in case.placed_in(scope))
        return {number: ScopeCount(
            tuple(places.get(number, ())), placed_counts[number])
            for number in {*places, *placed_counts}}
