# SPDX-License-Identifier: Apache-2.0
"""The traffic of a group as a graph: the sides of relationships are nodes, and
the traffic between two sides is an edge. Each edge belongs to one star."""

from collections.abc import Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass
import math

from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import Traffic


@dataclass(frozen=True, slots=True)
class Node:
    """Members of one side, or of several sides with the same members.

    :ivar paths: paths of the members
    """

    members: tuple[Member, ...]
    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Star:
    """Traffic between one node and some others.

    A domain with n members of the centre and m of a leaf keeps n x m pairs
    together. For a fixed n, this is linear in the numbers of the leaves.

    :ivar nodes: the centre, then the leaves. No member is in two leaves. If
        there are several leaves, no member is in both the centre and a leaf
    :ivar mbps: for each leaf, Mbit/s between one of its members and one of the
        centre
    :ivar shared: number of members that are in both the centre and the leaf;
        0 if there are several leaves
    """

    nodes: tuple[int, ...]
    mbps: tuple[int, ...]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class TrafficGraph:
    """All traffic of a group.

    :ivar total: Mbit/s over all pairs, independent of their hosts
    :ivar unit: common divisor of the Mbit/s of all pairs
    """

    nodes: tuple[Node, ...]
    stars: tuple[Star, ...]
    total: int
    unit: int

    @classmethod
    def of(cls, traffic: Sequence[Traffic]) -> 'TrafficGraph':
        """The graph of the given traffic. Sides with the same members are one
        node, and the traffic between the same nodes is added."""
        nodes: list[Node] = []
        index: dict[frozenset[str], int] = {}
        edges: dict[tuple[int, int], int] = defaultdict(int)
        for each in traffic:
            ends = []
            for side in (each.first, each.second):
                paths = frozenset(m.path for m in side.members)
                if paths and paths not in index:
                    index[paths] = len(nodes)
                    nodes.append(Node(tuple(side.members), paths))
                ends.append(index.get(paths))
            if None not in ends and each.mbps:
                edges[min(ends), max(ends)] += each.mbps
        return cls(tuple(nodes), tuple(_stars(nodes, edges)), sum(
            mbps * len(nodes[i].paths) * len(nodes[j].paths)
            for (i, j), mbps in edges.items()),
            math.gcd(*edges.values()) or 1)


def _stars(nodes: Sequence[Node],
           edges: Mapping[tuple[int, int], int]) -> list[Star]:
    """Assign each edge to one star; centres with the most traffic come first.
    """
    found, left = [], dict(edges)

    def load(edge: tuple[int, int]) -> int:
        i, j = edge
        return left[edge] * len(nodes[i].paths) * len(nodes[j].paths)

    while left:
        busy: dict[int, int] = defaultdict(int)
        for edge in left:
            for end in {*edge}:
                busy[end] += load(edge)
        centre = max(busy, key=lambda n: (busy[n], -n))
        own_edges = sorted((e for e in left if centre in e),
                           key=lambda e: (-load(e), e))
        leaves: list[tuple[int, int]] = []
        seen = set(nodes[centre].paths)
        for edge in own_edges:
            leaf = edge[0] if edge[1] == centre else edge[1]
            mbps = left.pop(edge)
            paths = nodes[leaf].paths
            if seen.isdisjoint(paths):
                leaves.append((leaf, mbps))
                seen |= paths
            else:
                found.append(Star((centre, leaf), (mbps,), len(
                    nodes[centre].paths & paths)))
        if leaves:
            found.append(Star((centre, *(leaf for leaf, _ in leaves)),
                              tuple(mbps for _, mbps in leaves)))
    return found
