# SPDX-License-Identifier: Apache-2.0
"""Where members of a scope are: their number in a place, and whether any."""

from collections.abc import Iterator
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pulp import LpAffineExpression, LpVariable

from nova_holistic.solver.problem.rules import Atom, Kind

if TYPE_CHECKING:
    from nova_holistic.solver.milp.program import Program


@dataclass(frozen=True, slots=True)
class Spot:
    """Members of one scope in one place.

    :ivar places: (class, host) of those still to be placed there
    :ivar constant: number of those that are there and stay
    """

    places: tuple[tuple[int, int], ...]
    constant: int


class Presence:
    """Counts, and binaries that are 1 just where a count is not 0.

    A binary is made when it is first asked for, and only once for equal
    spots.
    """

    def __init__(self, program: 'Program'):
        self._program = program
        self._stay = Counter(program.case.placed.values())
        self._used: dict[tuple, tuple[Spot, LpVariable]] = {}
        self._spots: dict[tuple, Spot] = {}
        self._members: dict[int, tuple[list[int], list[int]]] = {}

    def spot(self, atom: Atom) -> Spot:
        """The place and the members that a count in the rules speaks of."""
        key = (atom.scope, atom.level, atom.domain)
        if key not in self._spots:
            division = self._program.case.table.division(atom.level)
            hosts = (np.flatnonzero(division.of_host < 0)
                     if atom.kind is Kind.OUTSIDE
                     else division.hosts_in(atom.domain)).tolist()
            classes, placed = self._in_scope(atom.scope)
            within = set(hosts)
            self._spots[key] = Spot(
                tuple((c, h) for c in classes for h in hosts
                      if h in self._program.x[c]),
                sum(1 for h in placed if h in within))
        return self._spots[key]

    def whole_host(self, host: int) -> Spot:
        """All members of the group on one host."""
        return Spot(tuple((c, host) for c in self._program.here(host)),
                    self._stay[host])

    def number(self, spot: Spot) -> LpAffineExpression:
        x = self._program.x
        return LpAffineExpression([(x[c][h], 1) for c, h in spot.places],
                                  constant=spot.constant)

    def of(self, spot: Spot) -> LpAffineExpression:
        """1 where anyone is there, else 0."""
        if spot.constant or not spot.places:
            return LpAffineExpression(constant=float(spot.constant > 0))
        if spot.places not in self._used:
            self._used[spot.places] = (spot, self._binary(spot))
        return LpAffineExpression(self._used[spot.places][1])

    def known(self, host: int) -> LpVariable | None:
        """The binary of all members on a host, if anything asked for it."""
        found = self._used.get(self.whole_host(host).places)
        return found[1] if found else None

    def variables(self) -> Iterator[tuple[Spot, LpVariable]]:
        yield from self._used.values()

    def _binary(self, spot: Spot) -> LpVariable:
        program = self._program
        used = program.binary()
        count = self.number(spot)
        members = sum(len(program.case.classes[c].members)
                      for c in {c for c, _ in spot.places})
        most = min(members, sum(v.upBound for v in count))
        # No member is in a place that is not used.
        program.require(count <= used * most)
        # A place that is used holds a member.
        program.require(count >= used)
        return used

    def _in_scope(self, scope: int) -> tuple[list[int], list[int]]:
        if scope not in self._members:
            case = self._program.case
            self._members[scope] = (case.classes_in(scope),
                                    case.placed_in(scope))
        return self._members[scope]
