# SPDX-License-Identifier: Apache-2.0
"""The integer program over offers: it chooses how many parts of each kind each
cloud takes.

The columns are kind x cloud, and the rows are the rules of the level of
clouds. The program minimises several objectives one after the other.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pulp

from nova_holistic.federation.splitting.cloud_rows import CloudRows
from nova_holistic.federation.splitting.cloud_rules import Row
from nova_holistic.federation.splitting.kinds import Kind
from nova_holistic.solver.milp.backend import Backend, Status

Counts = Mapping[tuple[int, str], int]
"""(Index of a kind, cloud) to the number of parts, without zeros."""

_SLACK = 1e-6
"""Relative worsening of an earlier objective that is accepted for a later
one: the feasibility tolerance of the solver."""


@dataclass(frozen=True, slots=True)
class Column:
    """An offer for one part of a kind.

    :ivar violations: weighted violations of preferences
    :ivar value: value of the objective
    :ivar most: number of parts that the cloud takes at most; None: unknown
    """

    violations: float
    value: float
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """The preference for a cloud.

    :ivar cost: cost of one server
    :ivar order: clouds with a lower number are preferred
    """

    cost: float = 0.0
    order: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A set of parts that a cloud does not take together. It takes no larger
    set either.

    :ivar counts: index of a kind to the number of parts
    """

    cloud: str
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """An offer for several parts together.

    :ivar counts: index of a kind to the number of parts
    :ivar surplus: weighted violations in addition to the sum of the offers for
        the single parts
    """

    cloud: str
    counts: Mapping[int, int]
    surplus: float


class Undecided(Exception):
    """Neither a choice of clouds nor a proof that none exists was found."""


@dataclass(frozen=True, slots=True)
class Program:
    """The problem to choose clouds.

    :ivar columns: (index of a kind, cloud) to the offer, without refusals
    :ivar prices: preferences for all candidates, by cloud
    :ivar eligible: clouds over which members are spread evenly
    :ivar refusals: sets of parts that clouds do not take
    :ivar measured: offers for several parts together
    """

    kinds: Sequence[Kind]
    rows: Sequence[Row]
    columns: Mapping[tuple[int, str], Column]
    prices: Mapping[str, Price]
    eligible: Collection[str]
    refusals: Sequence[Refusal] = ()
    measured: Sequence[Measured] = ()

    def solve(self, backend: Backend, seconds: float) -> 'Solution | None':
        """The best choice; None if no choice exists.

        The objectives are, in this order: weighted violations, number of
        clouds, value of the objective, cost, and order of the clouds.

        :param seconds: time limit for each of these objectives
        :raises Undecided: the limit ended before a choice was found
        """
        if any(not any((k, cloud) in self.columns for cloud in self.prices)
               for k in range(len(self.kinds))):
            return None
        model = _Model(self)
        for objective in model.objectives():
            model.problem.setObjective(objective)
            outcome = backend.solve(model.problem, seconds=seconds, gap=0.0)
            if not outcome.solved:
                if outcome.status == Status.NOTHING and model.found is None:
                    raise Undecided
                break
            best = pulp.value(objective) or 0.0
            model.read(best)
            # A later objective must not worsen an earlier one.
            model.problem += objective <= best + _SLACK * max(1.0, abs(best))
        return model.found


@dataclass(frozen=True, slots=True)
class Solution:
    """The numbers of parts in the clouds.

    :ivar violations: weighted violations, estimated from the offers for single
        parts and for measured sets
    """

    counts: Counts
    violations: float


class _Model:
    """The program in the form of the solver.

    :ivar found: the latest solution
    """

    def __init__(self, program: Program):
        self.found: Solution | None = None
        self._flags = 0
        self.problem = pulp.LpProblem('clouds', pulp.LpMinimize)
        self._program = program
        self._clouds = sorted({cloud for _, cloud in program.columns})
        index = {cloud: i for i, cloud in enumerate(self._clouds)}
        self._number = {
            (k, cloud): self._variable(f'parts_{k}_{index[cloud]}',
                                       _most(program.kinds[k], column))
            for (k, cloud), column in program.columns.items()}
        self._rows = CloudRows(
            self.problem, program.rows, self._clouds, program.eligible,
            {(k, c): (variable, program.kinds[k])
             for (k, c), variable in self._number.items()})
        self._surplus: list[pulp.LpVariable] = []
        self._assign()
        for refusal in program.refusals:
            fewer = self._fewer(refusal.cloud, refusal.counts)
            if fewer is not None:
                # The cloud takes fewer parts of at least one of these kinds.
                self.problem += fewer >= 1
        for each in program.measured:
            self._add_surplus(each)

    def objectives(self) -> Iterator[pulp.LpAffineExpression]:
        columns, prices = self._program.columns, self._program.prices
        yield self._sum(
            {key: columns[key].violations for key in self._number}
        ) + self._rows.cost + pulp.lpSum(self._surplus)
        yield pulp.lpSum(self._rows.used(cloud) for cloud in self._clouds)
        yield self._sum({key: columns[key].value for key in self._number})
        for price in (lambda p: p.cost, lambda p: p.order):
            yield self._sum({
                (k, cloud): price(prices[cloud]) * self._program.kinds[k].size
                for k, cloud in self._number})

    def read(self, value: float) -> None:
        """Read the solution.

        :param value: value of the current objective
        """
        counts = {key: number for key, variable in self._number.items()
                  if (number := round(variable.varValue or 0))}
        # The first objective is the weighted violations.
        violations = self.found.violations if self.found else value
        self.found = Solution(counts, violations)

    def _assign(self) -> None:
        for k, kind in enumerate(self._program.kinds):
            # Every part is in one cloud.
            self.problem += pulp.lpSum(
                self._number[k, cloud] for cloud in self._clouds
                if (k, cloud) in self._number) == kind.number

    def _add_surplus(self, offer: Measured) -> None:
        surplus = self.problem.add_variable(
            f'surplus_{len(self._surplus)}', 0, offer.surplus)
        self._surplus.append(surplus)
        fewer = self._fewer(offer.cloud, offer.counts)
        if fewer is not None:
            # The surplus counts unless the cloud takes fewer parts of a kind.
            self.problem += surplus >= offer.surplus * (1 - fewer)

    def _fewer(self, cloud: str, counts: Mapping[int, int]
               ) -> pulp.LpAffineExpression | None:
        """An expression that is at least 1 only if the cloud takes fewer than
        these parts of some kind; None: the cloud always takes fewer."""
        found = []
        for k, number in counts.items():
            variable = self._number.get((k, cloud))
            if variable is None or variable.upBound < number:
                return None
            self._flags += 1
            fewer = self._variable(f'fewer_{self._flags}', 1)
            # If 1, the cloud takes fewer parts of this kind.
            self.problem += variable <= number - 1 + (
                variable.upBound - number + 1) * (1 - fewer)
            found.append(fewer)
        return pulp.lpSum(found)

    def _sum(self, factors: Mapping[tuple[int, str], float]
             ) -> pulp.LpAffineExpression:
        return pulp.LpAffineExpression(
            [(self._number[key], factor) for key, factor in factors.items()])

    def _variable(self, name: str, upper: int) -> pulp.LpVariable:
        return self.problem.add_variable(name, 0, upper, pulp.LpInteger)


def _most(kind: Kind, column: Column) -> int:
    return kind.number if column.most is None else min(
        kind.number, column.most)
