# SPDX-License-Identifier: Apache-2.0
"""Upper bound of the traffic that domains with room for few members keep.

The bound of stars (``traffic_bound``) uses the room of a domain once for each
star. Here, a pattern contains the numbers of the members of all nodes in one
domain, so that the stars share its room. All patterns are enumerated. If the
members have prices such that no pattern keeps more traffic than the prices of
its members, no plan keeps more traffic than the prices of all members (weak
duality of the linear program over patterns). The prices come from this program
and are made feasible in exact arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
import math

import numpy as np

from nova_holistic.solver.column_generation.enumeration import (
    every_pattern)
from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import (
    ARITHMETIC, BOUND_ERROR, PRICE_UNITS)
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.traffic.domain_capacity import DomainCapacity
from nova_holistic.solver.traffic.traffic_graph import TrafficGraph


@dataclass(frozen=True, slots=True, eq=False)
class JointPatterns:
    """Members with traffic by class: members of the same nodes.

    :ivar inside: [class, node]: whether the node contains the members
    :ivar sizes: [class]: number of members
    :ivar mbps: [node, node]: Mbit/s between a member of the one and of the
        other
    """

    graph: TrafficGraph
    inside: np.ndarray
    sizes: np.ndarray
    mbps: np.ndarray

    @classmethod
    def of(cls, graph: TrafficGraph) -> 'JointPatterns':
        """The classes of a graph that has traffic."""
        nodes, number = graph.nodes, len(graph.nodes)
        paths = sorted(frozenset().union(*(node.paths for node in nodes)))
        flags = np.array([[path in node.paths for node in nodes]
                          for path in paths], dtype=bool)
        inside, sizes = np.unique(flags.reshape(len(paths), number), axis=0,
                                  return_counts=True)
        mbps = np.zeros((number, number), dtype=np.int64)
        for star in graph.stars:
            mbps[star.nodes[0], list(star.nodes[1:])] += star.mbps
        return cls(graph, inside, sizes, mbps)

    def least(self, capacity: DomainCapacity, levels: Sequence[str],
              deadline: Deadline) -> float:
        """Lower bound of the sum of Mbit/s x uplinks.

        :param levels: levels of the topology
        """
        most = capacity.of(frozenset().union(
            *(node.paths for node in self.graph.nodes)))
        return 2.0 * sum(self.graph.total - self.most_kept(
            int(most[level].max(initial=0)), deadline) for level in levels)

    def most_kept(self, room: int, deadline: Deadline) -> int:
        """Upper bound of the Mbit/s within the domains of a level.

        :param room: maximum number of members in a domain
        """
        total, unit = self.graph.total, self.graph.unit
        patterns = every_pattern(
            np.minimum(self.sizes, room).tolist(),
            lambda found: found.sum(axis=1) <= room, limits().joint_patterns)
        if patterns is None:
            return total
        nodes = patterns @ self.inside
        kept = ((nodes @ self.mbps) * nodes).sum(axis=1)
        patterns, kept = patterns[kept > 0], kept[kept > 0]
        if not len(kept):
            return 0
        prices = self._prices(patterns, kept, deadline)
        paid = patterns @ prices
        if not paid.all():
            return total
        ratios = kept / paid
        # Exact arithmetic decides between nearly equal ratios.
        largest = max(Fraction(int(kept[n]), int(paid[n]))
                      for n in np.flatnonzero(
                          ratios >= ratios.max() * (1 - BOUND_ERROR)))
        most = largest * int(self.sizes @ prices)
        return min(total, math.floor(most / unit) * unit)

    def _prices(self, patterns: np.ndarray, kept: np.ndarray,
                deadline: Deadline) -> np.ndarray:
        """[class]: whole numbers, of any unit; 0 if the program is not solved.
        """
        number, classes = patterns.shape
        # The upper limits exceed those of the rows, so that only rows have
        # prices.
        program = Linear(-kept.astype(float),
                         np.full(number, 2.0 * self.sizes.sum()))
        program.add_rows([(np.arange(number)[:, None], patterns)], -np.inf,
                         self.sizes)
        outcome, _ = program.solve(deadline.left())
        if outcome.status is not Status.OPTIMAL:
            return np.zeros(classes, dtype=np.int64)
        prices = (-program.duals).clip(0)
        unit = max(ARITHMETIC, prices.max()) / PRICE_UNITS
        return np.ceil(prices / unit).astype(np.int64)
