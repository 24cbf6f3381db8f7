# SPDX-License-Identifier: Apache-2.0
"""How much traffic can stay within domains, at most: a bound for objectives
that are about traffic.

Let x be the numbers of members by domain in some plan. Of one star the Mbit/s
within domain d are q(x_d), where x_d is one of the finitely many mixes that d
can hold. So some choice of one mix for each domain, each of weight 1, makes
the sum of q what the plan keeps together, while the mixes' members in a part
of the tree are no more than stand there. The linear program over weights from
0 to 1, over all stars and levels at once, thus has no smaller optimum than
any plan has; mixes enter as they pay (column generation), each sort of equal
domains being one row. Whatever prices of the rows it has reached, its optimum
and what the best mix of each domain would be worth beyond its price are
together an upper bound (Lagrange): it may be stopped at any time.
"""

from collections.abc import Iterator
import itertools
import math

import numpy as np

from nova_holistic.model.domain import HOST
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.bundle import Bundle
from nova_holistic.solver.traffic.ceilings import Ceilings
from nova_holistic.solver.traffic.front import Front
from nova_holistic.solver.traffic.holding import Holding
from nova_holistic.solver.traffic.sorts import Sorts
from nova_holistic.solver.traffic.standing import Grid, Standing
from nova_holistic.solver.traffic.traffic import Star, Talk

_ROUNDS = 40
_CLOSE = 1e-3
"""Share of the traffic apart that the bound may be off by."""

_SPARE = 0.5
"""Share of the time that is left to others."""

_CHOICES = 12
"""Ways to choose domains that are tried, at most."""

_FEW = 0.02
"""Share of those who talk."""

_WORTH_IT = 1e-6


class TrafficBound:
    """Mixes for domains, until none is worth more than it costs.

    :ivar most: no plan keeps more Mbit/s within domains, summed over levels;
        None where nothing is proved
    :ivar none: whether it is proved that no plan keeps the rows
    :ivar unit: Mbit/s that are 1 in the program
    """

    def __init__(self, kinds: Kinds, talk: Talk, ceilings: Ceilings,
                 deadline: Deadline):
        self.talk, self._deadline = talk, deadline
        self.levels = len(kinds.table.snapshot.levels)
        self.grid = Grid.over(kinds.table)
        self.standing = Standing(kinds, ceilings, self.grid, [
            node.paths for node in talk.nodes])
        self.holding = Holding(kinds, ceilings)
        self.fronts = [
            front for star in talk.stars for front in self._of(kinds, star)]
        self.unit = max((mbps for star in talk.stars for mbps in star.mbps),
                        default=1)
        self._prices = np.zeros(0)
        self.most: float | None = None
        self.none = False

    @property
    def least(self) -> float | None:
        """No plan has a smaller sum of Mbit/s x uplinks."""
        if self.most is None:
            return None
        apart = 2 * (self.levels * self.talk.total - self.most)
        unit = 2 * self.talk.unit
        slack = 1e-6 * (1 + self.levels * self.talk.total)
        return max(0.0, np.ceil((apart - slack) / unit) * unit)

    def run(self) -> None:
        """Until the bound is close to what it can be, or time is up.

        Where some who talk have to be in one domain of several, each of these
        is tried in turn: halves of members in two would keep as many pairs
        together as all of them in one.
        """
        self._price(np.zeros(sum(front.rows for front in self.fronts)))
        free, tried = self.standing.limits, []
        for closed in self._combined():
            self.standing.limits = free.copy()
            self.standing.limits[closed] = 0
            most = self._converge(max((m for m, _ in tried), default=None))
            if most is not None:
                tried.append((most, self.standing.limits))
            elif not self.none:
                return
        self.none = not tried
        if tried:
            self.most, self.standing.limits = max(
                tried, key=lambda each: each[0])

    def settle(self, numbers: np.ndarray) -> None:
        """Prices where so many members stand in each cell.

        :param numbers: [part, cell]
        """
        self.standing.limits = np.concatenate((
            numbers.ravel(), self.standing.limits[numbers.size:]))
        self._converge(None)

    def prices(self, star: Star, level: str) -> np.ndarray:
        """[place, node of the star]: Mbit/s that one member more would keep
        within domains of the level."""
        start = 0
        for front in self.fronts:
            end = start + front.rows - len(front.sorts.place)
            if front.star is star and front.level == level:
                return self.unit * self._prices[start:end].reshape(
                    len(star.nodes), -1).T
            start = end + len(front.sorts.place)
        return np.zeros((self.grid.count, len(star.nodes)))

    def bundle(self, star: Star, level: str) -> Bundle | None:
        """What is known of all domains of a cell at once, if it is."""
        return next((
            front.sorts for front in self.fronts if front.star is star
            and front.level == level and isinstance(front.sorts, Bundle)),
            None)

    def _combined(self) -> Iterator[np.ndarray]:
        """Variables that are 0, for each way to choose domains."""
        talking = np.concatenate([np.zeros(0, dtype=np.int64), *(
            self.standing.columns(node.paths, np.ones(
                self.grid.count, dtype=bool)) for node in self.talk.nodes)])
        chosen: list[list[np.ndarray]] = []
        for choice in self.standing.choices():
            total = math.prod(map(len, chosen)) * len(choice)
            # Of few members halves hardly matter.
            sizes = [self.standing.limits[np.intersect1d(closed, talking)]
                     for closed in choice]
            if total <= _CHOICES and max(map(np.sum, sizes)) > (
                    _FEW * self.standing.limits[talking].sum()):
                chosen.append(choice)
        for closed in itertools.product(*chosen):
            yield np.concatenate([np.zeros(0, dtype=np.int64), *closed])

    def _converge(self, enough: float | None) -> float | None:
        """What mixes keep together at most; None where nothing is proved.

        :param enough: what is no more than that is not worth to be known
            better
        """
        most, self.none = None, False
        for _ in range(_ROUNDS):
            program = self.program()
            outcome, _ = program.solve(self._deadline.left())
            if outcome.status is not Status.OPTIMAL:
                self.none = outcome.status is Status.INFEASIBLE
                return most
            self._prices = (-program.duals).clip(0)
            worth, beyond, entered = self._price(self._prices)
            standing = self._standing_bound(program)
            if standing is None:
                return most
            found = (worth - standing) * self.unit
            most = found if most is None else min(most, found)
            apart = (self.levels * self.talk.total - found
                     + beyond * self.unit)
            if not entered or beyond * self.unit <= _CLOSE * apart or (
                    enough is not None and most <= enough) or (
                    self._deadline.left() < _SPARE * self._deadline.limit):
                break
        return most

    def _of(self, kinds: Kinds, star: Star) -> list[Front]:
        nodes = [self.talk.nodes[n] for n in star.nodes]
        alone = [self.holding.of(node.paths) for node in nodes]
        joint = self.holding.of(frozenset().union(
            *(node.paths for node in nodes)))
        found = []
        for level in kinds.table.snapshot.levels:
            division = kinds.table.division(level)
            if level in self.grid.domain_of:
                place = np.arange(len(division.domains))
                inside = place[:, None] == self.grid.domain_of[level]
            else:
                place = np.zeros(len(division.domains), dtype=np.int64)
                known = division.of_host >= 0
                place[division.of_host[known]] = self.grid.of[known]
                inside = np.eye(self.grid.count, dtype=bool)
            what = star, place, np.column_stack(
                [caps[level] for caps in alone]), joint[level]
            sorts = Sorts.of(*what)
            if level != HOST and level not in self.grid.domain_of:
                sorts = Bundle.of(*what, tuple(
                    len(node.paths) for node in nodes)) or sorts
            if len(sorts.place):
                found.append(Front(
                    star, level, sorts, inside, np.zeros(0, dtype=np.int64),
                    np.zeros((0, len(nodes)), dtype=np.int64)))
        return found

    def _standing_bound(self, program: Linear) -> float | None:
        """The least that members pay where they stand, at the prices of the
        rows; None where nothing is proved.

        No mix is part of it, nor the price of a row that allows one mix for
        each domain: the worth of the best mixes is counted apart.
        """
        duals, upper, start = program.duals.copy(), program.upper.copy(), 0
        upper[self.standing.size:] = 0
        for front in self.fronts:
            start += front.rows
            duals[start - len(front.sorts.place):start] = 0
        return program.dual().bound(duals, program.lower_limits(), upper)

    def _price(self, prices: np.ndarray) -> tuple[float, float, bool]:
        """Let the best mixes at these prices enter.

        :returns: what the best mixes of all domains are worth; how much more
            that is than their rows' prices; whether any mix is new
        """
        self._deadline.check()
        total, beyond, entered, start = 0.0, 0.0, False, 0
        for front in self.fronts:
            sorts, nodes = front.sorts, len(front.star.nodes)
            end = start + front.rows - len(sorts.place)
            each = prices[start:end].clip(0).reshape(nodes, -1)
            own = prices[end:end + len(sorts.place)].clip(0)
            start = end + len(sorts.place)
            worth, mixes = sorts.best(each[:, sorts.place].T * self.unit)
            worth = worth.clip(0) / self.unit
            gain = worth - own
            better = gain > _WORTH_IT
            total += float((worth * sorts.number).sum())
            beyond += float((gain * sorts.number)[better].sum())
            entered |= front.enter(np.flatnonzero(better), mixes[better])
        return total, beyond, entered

    def program(self) -> Linear:
        """Over the variables of ``standing``, then the weights of the mixes,
        front by front."""
        size = self.standing.size
        mixes = [len(front.sort) for front in self.fronts]
        program = Linear(
            np.concatenate((np.zeros(size), *(
                -front.sorts.pairs(front.sort, front.mixes) / self.unit
                for front in self.fronts))),
            # Beyond what rows allow, so that only the rows have prices.
            np.concatenate((self.standing.limits, *(
                2.0 * front.sorts.number[front.sort]
                for front in self.fronts))))
        for front, number in zip(self.fronts, mixes):
            self._add(program, front, size + np.arange(number))
            size += number
        self.standing.add_rows(program)
        return program

    def _add(self, program: Linear, front: Front, y: np.ndarray) -> None:
        places, sorts = len(front.inside), front.sorts
        for slot, node in enumerate(front.star.nodes):
            rows, columns = [sorts.place[front.sort]], [y]
            values = [front.mixes[:, slot]]
            for place, cells in enumerate(front.inside):
                here = self.standing.columns(
                    self.talk.nodes[node].paths, cells)
                rows.append(np.full(len(here), place))
                columns.append(here)
                values.append(np.full(len(here), -1.0))
            # Mixes have no more of a node's members than stand there.
            program.add(np.concatenate(rows), np.concatenate(columns),
                        np.concatenate(values), -np.inf, 0.0, places)
        # Each domain has one mix, or none.
        program.add(front.sort, y, np.ones(len(y)), -np.inf,
                    sorts.number, len(sorts.place))
