# SPDX-License-Identifier: Apache-2.0
"""Rows of hard policies as upper limits on the largest possible counts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from nova_holistic.solver.numerics.tolerances import ARITHMETIC
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.rows import Atom, Kind, Row

Table = tuple[int, str]
"""A scope, and the level at which its members are counted."""

Slot = tuple[int, str, int]
"""A scope, a level, and the number of a domain; -1 means no domain."""


@dataclass(slots=True, eq=False)
class FreeVariable:
    """A variable of a policy, and the range of its possible values.

    :ivar whole: whether the variable must be an integer
    """

    low: float
    high: float
    whole: bool


@dataclass(slots=True, eq=False)
class Margin:
    """A row as an upper limit on a sum of counts; an equation has two margins.

    :ivar now: largest possible value of the counts in the row
    :ivar free: the only variable of the policy in the row, if it has one
    :ivar weight: the coefficient of this variable
    """

    limit: float
    now: float = 0.0
    free: FreeVariable | None = None
    weight: float = 0.0

    def breaks(self, more: float) -> bool:
        """Whether the row would be violated if the sum of the counts grew by
        this amount."""
        if self.free is None:
            return self.now + more > self.limit + ARITHMETIC
        low, high = self.leaves(more)
        return low > high

    def leaves(self, more: float) -> tuple[float, float]:
        """Smallest and largest value of the variable if the sum of the counts
        grew by this amount."""
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
    """The margins of all rows.

    :ivar counts: for each slot, the margins that contain its count, with the
        coefficients
    :ivar used: for each slot, the margins that contain its use, with the
        coefficients
    :ivar tables: each table to the number of its domains
    """

    counts: Weights
    used: Weights
    tables: Mapping[Table, int]
    _all: list[Margin] = field(default_factory=list)
    _several: list[tuple[Margin,
                         list[FreeVariable]]] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case) -> 'Margins':
        """Margins of the rows of the case, with counts of 0."""
        found = cls(defaultdict(list), defaultdict(list), {})
        frees: dict[Atom, FreeVariable] = {}
        for row in case.rules.every_row():
            if not row.carried.policy.hard:
                # The variables of a preference absorb any violation.
                continue
            for atom, _ in row.terms:
                if atom.kind is Kind.FREE and atom not in frees:
                    frees[atom] = FreeVariable(0.0, atom.upper, atom.whole)
            for sign in row.upper_signs:
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
            number = case.table.domain_number(atom)
            self.tables[atom.scope, atom.level] = len(division.domains)
            (self.used if atom.kind is Kind.USED else self.counts)[
                atom.scope, atom.level, number].append((margin, weight))
        if len(own) > 1:
            margin.free = None
            self._several.append((margin, own))

    def freeze(self) -> None:
        """Accept the current counts: from now on, no row may exceed its limit,
        or its current value if this is larger.

        If a row has several variables, their values are not known, but they
        stay fixed: the sum of the counts in this row may not grow.
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
