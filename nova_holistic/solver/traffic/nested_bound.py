# SPDX-License-Identifier: Apache-2.0
"""Upper bound of the traffic within domains, for several levels together.

``traffic_bound`` has separate patterns for each level. Here, a pattern of a
star contains the members in a cell, and its traffic is that of the best whole
numbers of members in the domains of all levels in the cell, one within the
other.
"""

import contextlib
from dataclasses import replace

import numpy as np

from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.column_pool import ColumnPool
from nova_holistic.solver.traffic.count_bounds import CountBounds
from nova_holistic.solver.traffic.domain_aggregate import CellTable
from nova_holistic.solver.traffic.nested_aggregate import nested_aggregate
from nova_holistic.solver.traffic.traffic_bound import TrafficBound
from nova_holistic.solver.traffic.traffic_graph import (
    Node, Star, TrafficGraph)


def nested_bound(kinds: Kinds, graph: TrafficGraph, bounds: CountBounds,
                 deadline: Deadline) -> float:
    """Lower bound of the sum of Mbit/s x uplinks of all plans; 0 if nothing is
    proved in time."""
    with contextlib.suppress(OutOfTime):
        bound = NestedBound(kinds, with_merged_leaves(graph), bounds, deadline)
        bound.run()
        return bound.least or 0.0
    return 0.0


class NestedBound(TrafficBound):
    """The bound of a graph of ``with_merged_leaves``.

    Stars with more than two nodes, or with a member in both nodes, have
    patterns for each level.
    """

    def _of(self, kinds: Kinds, star: Star) -> list[ColumnPool]:
        pools = super()._of(kinds, star)
        nested = self._nested(kinds, star)
        if nested is None:
            return pools
        levels, types = nested
        merged = ColumnPool(
            star, '', types, np.eye(self.partition.count, dtype=bool),
            np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64))
        return [*(pool for pool in pools if pool.level not in levels), merged]

    def _nested(self, kinds: Kinds, star: Star
                ) -> tuple[frozenset[str], CellTable] | None:
        """The levels of the aggregate and the aggregate; None if no aggregate
        is applicable."""
        if len(star.nodes) != 2 or star.shared:
            return None
        table, coarse = kinds.table, self.partition.domain_of
        levels = [level for level in table.snapshot.levels
                  if level not in coarse]
        if not levels or any((table.division(level).of_host < 0).any()
                             for level in levels):
            return None
        last = [*coarse][-1] if coarse else None
        are_domains = last is not None and len(
            np.unique(coarse[last])) == self.partition.count
        room = [self._room_of_cells(star, coarse[last], last) if are_domains
                else self._unlimited(star),
                *(self._room(star, table.division(level).of_host, level)
                  for level in levels)]
        types = nested_aggregate(
            star, self._sizes(star), np.array(room), are_domains,
            self._deadline)
        if types is None:
            return None
        return frozenset((*levels, last) if are_domains else levels), types

    def _room_of_cells(self, star: Star, of_cell: np.ndarray,
                       level: str) -> np.ndarray:
        """[cell, 3]: the room of the domain of each cell; unlimited for hosts
        in no domain."""
        found = self._unlimited(star)
        known = of_cell >= 0
        found[known] = self._room_of_domains(star, level)[of_cell[known]]
        return found

    def _room(self, star: Star, of_host: np.ndarray,
              level: str) -> np.ndarray:
        """[cell, 3]: the room of the best domains of the level."""
        found = np.zeros((self.partition.count, 3), dtype=np.int64)
        np.maximum.at(found, self.partition.of,
                      self._room_of_domains(star, level)[of_host])
        return found

    def _room_of_domains(self, star: Star, level: str) -> np.ndarray:
        """[domain, 3]: maximum number of members of each node and of both."""
        one, other = (self.graph.nodes[n].paths for n in star.nodes)
        return np.column_stack([self.capacity.of(paths)[level] for paths in (
            one, other, one | other)])

    def _unlimited(self, star: Star) -> np.ndarray:
        one, other = self._sizes(star)
        return np.tile([one, other, one + other], (self.partition.count, 1))

    def _sizes(self, star: Star) -> tuple[int, int]:
        one, other = (len(self.graph.nodes[n].paths) for n in star.nodes)
        return one, other


def with_merged_leaves(graph: TrafficGraph) -> TrafficGraph:
    """The graph in which the leaves of a star are one node if each of them has
    the same traffic with the centre. The traffic within a domain depends only
    on the sum of their members."""
    nodes, stars = [*graph.nodes], []
    for star in graph.stars:
        if len(star.mbps) > 1 and len({*star.mbps}) == 1:
            leaves = [graph.nodes[n] for n in star.nodes[1:]]
            nodes.append(Node(
                tuple(m for leaf in leaves for m in leaf.members),
                frozenset().union(*(leaf.paths for leaf in leaves))))
            star = Star((star.nodes[0], len(nodes) - 1), star.mbps[:1])
        stars.append(star)
    return replace(graph, nodes=tuple(nodes), stars=tuple(stars))
