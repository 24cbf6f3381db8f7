# SPDX-License-Identifier: Apache-2.0
"""Upper bound of the traffic within domains, for objectives that measure
traffic.

Let x be the numbers of members by domain in some plan. The Mbit/s of one star
within domain d are q(x_d), where x_d is one of the finitely many patterns that
d can hold. For one choice of a pattern of weight 1 for each domain, the sum of
q equals the traffic within domains in the plan, and the patterns contain no
more members in any part of the topology than the plan. Therefore, the optimum
of the linear program over weights from 0 to 1, for all stars and levels, is at
least the traffic within domains of any plan. Patterns are added by column
generation, and each type of equal domains has one row. For any prices of the
rows, the optimum plus the profit of the best pattern of each domain beyond its
price is an upper bound (Lagrangian relaxation). Therefore, the generation may
stop at any time.
"""

from collections.abc import Iterator
import itertools
import math

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.limits.current import column_generation, phases
from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import BOUND_ERROR
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.cell_variables import (
    CellPartition, CellVariables)
from nova_holistic.solver.traffic.column_pool import ColumnPool
from nova_holistic.solver.traffic.count_bounds import CountBounds
from nova_holistic.solver.traffic.domain_aggregate import DomainAggregate
from nova_holistic.solver.traffic.domain_capacity import DomainCapacity
from nova_holistic.solver.traffic.domain_types import DomainTypes
from nova_holistic.solver.traffic.traffic_graph import Star, TrafficGraph


class TrafficBound:
    """Generates patterns for domains until no pattern has more profit than its
    price.

    :ivar most: upper bound of the Mbit/s within domains, summed over levels;
        None if nothing is proved
    :ivar infeasible: whether it is proved that no plan satisfies the rows
    :ivar unit: Mbit/s that correspond to 1 in the program
    """

    def __init__(self, kinds: Kinds, graph: TrafficGraph, bounds: CountBounds,
                 deadline: Deadline):
        self.graph, self._deadline = graph, deadline
        self.levels = len(kinds.table.snapshot.levels)
        self.partition = CellPartition.of_table(
            kinds.table, bounds.levels_with_relations())
        self.variables = CellVariables(kinds, bounds, self.partition, [
            node.paths for node in graph.nodes])
        self.capacity = DomainCapacity(kinds, bounds)
        self.pools = [
            pool for star in graph.stars for pool in self._of(kinds, star)]
        self.unit = max((mbps for star in graph.stars for mbps in star.mbps),
                        default=1)
        self._prices = np.zeros(0)
        self.most: float | None = None
        self.infeasible = False

    @property
    def least(self) -> float | None:
        """Lower bound of the sum of Mbit/s x uplinks of all plans."""
        if self.most is None:
            return None
        cut_traffic = 2 * (self.levels * self.graph.total - self.most)
        unit = 2 * self.graph.unit
        slack = 1e-6 * (1 + self.levels * self.graph.total)
        return max(0.0, np.ceil((cut_traffic - slack) / unit) * unit)

    def run(self) -> None:
        """Improve the bound until it converges or the time limit is reached.

        If members with traffic must be in one domain of several, the search
        branches over these domains. Otherwise halves of the members in two
        domains would keep as many pairs together as all of them in one.

        :raises OutOfTime: if the time limit has passed
        """
        self._price(np.zeros(sum(pool.rows for pool in self.pools)))
        free, tried = self.variables.limits, []
        for closed in self._branches():
            self.variables.limits = free.copy()
            self.variables.limits[closed] = 0
            most = self._converge(max((m for m, _ in tried), default=None))
            if most is not None:
                tried.append((most, self.variables.limits))
            elif not self.infeasible:
                return
        self.infeasible = not tried
        if tried:
            self.most, self.variables.limits = max(
                tried, key=lambda each: each[0])

    def fix_counts(self, numbers: np.ndarray) -> None:
        """Compute prices for these numbers of members in each cell.

        :param numbers: [part, cell]
        """
        self.variables.limits = np.concatenate((
            numbers.ravel(), self.variables.limits[numbers.size:]))
        self._converge(None)

    def prices(self, star: Star, level: str) -> np.ndarray:
        """[place, node of the star]: Mbit/s that one more member would keep
        within domains of the level."""
        for pool, of_nodes, _ in self._rows_of_pools():
            if pool.star is star and pool.level == level:
                return self.unit * self._prices[of_nodes].reshape(
                    len(star.nodes), -1).T
        return np.zeros((self.partition.count, len(star.nodes)))

    def aggregate(self, star: Star, level: str) -> DomainAggregate | None:
        """The aggregate of all domains of a cell, if it exists."""
        return next((
            pool.types for pool in self.pools if pool.star is star
            and pool.level == level
            and isinstance(pool.types, DomainAggregate)),
            None)

    def _rows_of_pools(self) -> Iterator[tuple[ColumnPool, slice, slice]]:
        """Each pool, its rows of nodes and places, and its rows of types."""
        start = 0
        for pool in self.pools:
            end = start + pool.rows
            first = end - len(pool.types.place)
            yield pool, slice(start, first), slice(first, end)
            start = end

    def _branches(self) -> Iterator[np.ndarray]:
        """Yield the variables that are 0, for each combination of permitted
        domains."""
        communicating = np.concatenate([np.zeros(0, dtype=np.int64), *(
            self.variables.columns(node.paths, np.ones(
                self.partition.count, dtype=bool)) for node
            in self.graph.nodes)])
        chosen: list[list[np.ndarray]] = []
        for choice in self.variables.alternatives():
            total = math.prod(map(len, chosen)) * len(choice)
            # Halves of small sets have little effect.
            sizes = [self.variables.limits[
                np.intersect1d(closed, communicating)] for closed in choice]
            if total <= limits().branches and max(map(np.sum, sizes)) > (
                    limits().branching_share
                    * self.variables.limits[communicating].sum()):
                chosen.append(choice)
        for closed in itertools.product(*chosen):
            yield np.concatenate([np.zeros(0, dtype=np.int64), *closed])

    def _converge(self, enough: float | None) -> float | None:
        """Upper bound of the traffic within patterns; None if nothing is
        proved.

        :param enough: value at which a smaller bound is no longer useful
        """
        most, self.infeasible = None, False
        for _ in range(column_generation().rounds):
            program = self.program()
            outcome, _ = program.solve(self._deadline.left())
            if outcome.status is not Status.OPTIMAL:
                self.infeasible = outcome.status is Status.INFEASIBLE
                return most
            self._prices = (-program.duals).clip(0)
            profit, beyond, added = self._price(self._prices)
            variables = self._variable_bound(program)
            if variables is None:
                return most
            found = (profit - variables) * self.unit
            most = found if most is None else min(most, found)
            cut_traffic = (self.levels * self.graph.total - found
                           + beyond * self.unit)
            close = beyond * self.unit <= limits().gap * cut_traffic
            if not added or close or (
                    enough is not None and most <= enough) or (
                    self._deadline.left() < (1 - phases().relaxation_limit)
                    * self._deadline.limit):
                break
        return most

    def _of(self, kinds: Kinds, star: Star) -> list[ColumnPool]:
        nodes = [self.graph.nodes[n] for n in star.nodes]
        alone = [self.capacity.of(node.paths) for node in nodes]
        joint = self.capacity.of(frozenset().union(
            *(node.paths for node in nodes)))
        found = []
        for level in kinds.table.snapshot.levels:
            division = kinds.table.division(level)
            if level in self.partition.domain_of:
                place = np.arange(len(division.domains))
                inside = place[:, None] == self.partition.domain_of[level]
            else:
                place = np.zeros(len(division.domains), dtype=np.int64)
                known = division.of_host >= 0
                place[division.of_host[known]] = self.partition.of[known]
                inside = np.eye(self.partition.count, dtype=bool)
            what = star, place, np.column_stack(
                [caps[level] for caps in alone]), joint[level]
            types = DomainTypes.of(*what)
            if level != HOST and level not in self.partition.domain_of:
                types = DomainAggregate.of(*what, tuple(
                    len(node.paths) for node in nodes)) or types
            if len(types.place):
                found.append(ColumnPool(
                    star, level, types, inside, np.zeros(0, dtype=np.int64),
                    np.zeros((0, len(nodes)), dtype=np.int64)))
        return found

    def _variable_bound(self, program: Linear) -> float | None:
        """Lower bound of the prices that members pay in their cells; None if
        nothing is proved.

        It includes neither patterns nor the prices of the rows that allow one
        pattern per domain. The profit of the best patterns is added later.
        """
        duals, upper = program.duals.copy(), program.upper.copy()
        upper[self.variables.size:] = 0
        for _, _, of_types in self._rows_of_pools():
            duals[of_types] = 0
        return program.dual().bound(duals, program.lower_limits(), upper)

    def _price(self, prices: np.ndarray) -> tuple[float, float, bool]:
        """Add the best patterns at these prices.

        :returns: the profit of the best patterns of all domains; the part
            above the prices of their rows; whether any pattern is new
        """
        self._deadline.check()
        total, beyond, added = 0.0, 0.0, False
        for pool, of_nodes, of_types in self._rows_of_pools():
            types, nodes = pool.types, len(pool.star.nodes)
            each = prices[of_nodes].clip(0).reshape(nodes, -1)
            profit, patterns = types.best(each[:, types.place].T * self.unit)
            profit = profit.clip(0) / self.unit
            gain = profit - prices[of_types].clip(0)
            better = gain > BOUND_ERROR
            total += float((profit * types.number).sum())
            beyond += float((gain * types.number)[better].sum())
            added |= pool.add(np.flatnonzero(better), patterns[better])
        return total, beyond, added

    def program(self) -> Linear:
        """The program over the variables of ``variables``, followed by the
        weights of the patterns of each pool."""
        size = self.variables.size
        patterns = [len(pool.type_of) for pool in self.pools]
        program = Linear(
            np.concatenate((np.zeros(size), *(
                -pool.types.pairs(pool.type_of, pool.patterns) / self.unit
                for pool in self.pools))),
            # The limits exceed those of the rows, so that only rows have
            # prices.
            np.concatenate((self.variables.limits, *(
                2.0 * pool.types.number[pool.type_of]
                for pool in self.pools))))
        for pool, number in zip(self.pools, patterns):
            self._add(program, pool, size + np.arange(number))
            size += number
        self.variables.add_rows(program)
        return program

    def _add(self, program: Linear, pool: ColumnPool, y: np.ndarray) -> None:
        places, types = len(pool.inside), pool.types
        for slot, node in enumerate(pool.star.nodes):
            members = [self.variables.columns(
                self.graph.nodes[node].paths, cells) for cells in pool.inside]
            of_members = np.repeat(np.arange(places), [*map(len, members)])
            # Patterns contain at most the node's members in the place.
            program.add(
                np.concatenate((types.place[pool.type_of], of_members)),
                np.concatenate((y, *members)), np.concatenate((
                    pool.patterns[:, slot], np.full(len(of_members), -1.0))),
                -np.inf, 0.0, places)
        # Each domain has at most one pattern.
        program.add(pool.type_of, y, np.ones(len(y)), -np.inf,
                    types.number, len(types.place))
