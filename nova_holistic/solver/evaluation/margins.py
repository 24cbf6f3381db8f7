# SPDX-License-Identifier: Apache-2.0
"""Hard policies' rows as upper limits on the most that counts can come to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from pulp import LpConstraintEQ, LpConstraintGE

from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.rows import Atom, Kind, Row
from nova_holistic.solver.problem.tolerances import ARITHMETIC

Table = tuple[int, str]
"""A scope and a level, in which its members are counted."""

Slot = tuple[int, str, int]
"""A domain there, by its number; -1 is no domain."""


@dataclass(slots=True, eq=False)
class FreeVariable:
    """A policy's own variable, and the values that are left to it."""

    low: float
    high: float
    whole: bool


@dataclass(slots=True, eq=False)
class Margin:
    """A row as an upper limit; an equation is two.

    :ivar now: the most that the counts in it come to
    :ivar free: the only variable of the policy's own in it, if there is one
    :ivar weight: of that
    """

    limit: float
    now: float = 0.0
    free: FreeVariable | None = None
    weight: float = 0.0

    def breaks(self, more: float) -> bool:
        """If the counts came to so much more."""
        if self.free is None:
            return self.now + more > self.limit + ARITHMETIC
        low, high = self.leaves(more)
        return low > high

    def leaves(self, more: float) -> tuple[float, float]:
        """Least and largest value of the variable then."""
        free = self.free
        end = (self.limit - self.now - more) / self.weight
        if self.weight > 0:
            return free.low, min(free.high, (
                floor(end + ARITHMETIC) if free.whole else end))
        return max(free.low, (
            ceil(end - ARITHMETIC) if free.whole else end)), free.high


Weights = Mapping[Slot, Sequence[tuple[Margin, float]]]


@dataclass(slots=True)
class Margins:
    """Those of all rows.

    :ivar counts: by what is counted where
    :ivar used: by what is used or not
    :ivar tables: each with the number of its domains
    """

    counts: Weights
    used: Weights
    tables: Mapping[Table, int]
    _all: list[Margin] = field(default_factory=list)
    _several: list[tuple[Margin,
                         list[FreeVariable]]] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case) -> 'Margins':
        """Of the rows that there are; nothing is counted yet."""
        found = cls(defaultdict(list), defaultdict(list), {})
        frees: dict[Atom, FreeVariable] = {}
        for row in case.rules.every_row():
            if not row.carried.policy.hard:
                # Its own variables give way.
                continue
            for atom, _ in row.terms:
                if atom.kind is Kind.FREE and atom not in frees:
                    frees[atom] = FreeVariable(0.0, atom.upper, atom.whole)
            for sign in {LpConstraintEQ: (1, -1), LpConstraintGE: (-1,)}.get(
                    row.sense, (1,)):
                found._read(case, row, sign, frees)
        return found

    def _read(self, case: Case, row: Row, sign: int,
              frees: Mapping[Atom, FreeVariable]) -> None:
        margin = Margin(sign * row.limit)
        self._all.append(margin)
        own = []
        for atom, coefficient in row.terms:
            weight = sign * coefficient
            if atom.kind is Kind.FREE:
                own.append(frees[atom])
                margin.free, margin.weight = frees[atom], weight
                continue
            division = case.table.division(atom.level)
            number = (-1 if atom.kind is Kind.OUTSIDE
                      else division.index[atom.domain])
            self.tables[atom.scope, atom.level] = len(division.domains)
            (self.used if atom.kind is Kind.USED else self.counts)[
                atom.scope, atom.level, number].append((margin, weight))
        if len(own) > 1:
            margin.free = None
            self._several.append((margin, own))

    def freeze(self) -> None:
        """What counts come to now is fine: from here on no row gets worse
        than its limit, or than it is.

        Variables of which a row has several keep the values that they have,
        whatever those are: no count in it may grow.
        """
        fixed = {free for _, frees in self._several for free in frees}
        for margin in self._all:
            if margin.free is not None and margin.free not in fixed:
                margin.free.low, margin.free.high = margin.leaves(0.0)
        fixed.update(margin.free for margin in self._all
                     if margin.free and margin.free.low > margin.free.high)
        for margin in self._all:
            if margin.free is None:
                margin.limit = max(margin.limit, margin.now)
            elif margin.free in fixed:
                margin.limit, margin.free = margin.now, None
        for margin, _ in self._several:
            margin.limit = margin.now
