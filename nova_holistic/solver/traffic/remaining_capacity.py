# SPDX-License-Identifier: Apache-2.0
"""Members in each domain during the construction, and the remaining capacity.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.numerics.tolerances import UNLIMITED_MEMBERS
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.count_bounds import CountBounds
from nova_holistic.solver.traffic.domain_capacity import DomainCapacity
from nova_holistic.solver.traffic.traffic_graph import TrafficGraph


@dataclass(frozen=True, slots=True, eq=False)
class TrafficClass:
    """Members without a host that have the same kind and the same nodes.

    :ivar kind: index into ``Kinds.kinds``
    :ivar nodes: indexes of the nodes that contain the members
    :ivar paths: paths of the members
    """

    kind: int
    nodes: frozenset[int]
    paths: tuple[str, ...]


def traffic_classes(kinds: Kinds, graph: TrafficGraph) -> list[TrafficClass]:
    """Classes of all members without a host that belong to a node, those in
    the most nodes first."""
    found: dict[tuple[int, frozenset[int]], list[str]] = {}
    for number, kind in enumerate(kinds.kinds):
        for member in kind.members:
            nodes = frozenset(n for n, node in enumerate(graph.nodes)
                              if member.path in node.paths)
            if nodes:
                found.setdefault((number, nodes), []).append(member.path)
    return sorted((TrafficClass(kind, nodes, tuple(paths))
                   for (kind, nodes), paths in found.items()),
                  key=lambda traffic_class: -len(traffic_class.nodes))


class RemainingCapacity:
    """Free capacity, and limits of domains for nodes, stars and scopes.

    :ivar free: [host, resource class]: free amount
    :ivar numbers: for each level, [node, domain], including members that stay
    """

    def __init__(self, kinds: Kinds, graph: TrafficGraph, bounds: CountBounds,
                 capacity: DomainCapacity, classes: Sequence[TrafficClass]):
        self._kinds, self._classes = kinds, classes
        self.free = kinds.free.copy()
        self._room = kinds.room.copy()
        self._flags: list[list[bool]] = []
        self._levels: list[str] = []
        self._member_counts: list[int] = []
        self._left: list[np.ndarray] = []
        levels = kinds.table.snapshot.levels
        for paths in (*(node.paths for node in graph.nodes), *(
                frozenset().union(*(graph.nodes[n].paths for n in star.nodes))
                for star in graph.stars)):
            for level, most in capacity.of(paths).items():
                self._limit(paths, level, most)
        for (scope, level), most in bounds.most.items():
            if level in levels:
                self._limit({m.path for m in bounds.rules.scopes[
                    scope].members}, level, most)
        self._limit({m.path for m in kinds.members}, HOST,
                    np.full(len(kinds.table), kinds.most_on_a_host))
        self._index()
        self.numbers = {level: np.zeros((
            len(graph.nodes), len(kinds.table.division(level).domains) + 1),
            dtype=np.int64) for level in levels}
        self._where = {level: kinds.table.division(level).of_host
                       for level in levels}
        for path, host in kinds.placed.items():
            self._count([n for n, node in enumerate(graph.nodes)
                         if path in node.paths], host, 1)

    def allows(self, c: int, host: int) -> bool:
        """Whether the host has room for one more member of the class."""
        kind = self._classes[c].kind
        amounts = self._kinds.amounts[kind]
        return bool(
            self._room[kind, host] > 0
            and ((self.free[host] >= amounts) | (amounts == 0)).all()
            and (self._flat[self._at[self._limits_of[c], host]] > 0).all())

    def place_all(self, batch: Sequence[int], host: int) -> bool:
        """Place one member of each of the classes on the host if all of them
        fit. Return whether they fit."""
        for number, c in enumerate(batch):
            if not self.allows(c, host):
                for other in batch[:number]:
                    self._move(other, host, -1)
                return False
            self._move(c, host, 1)
        return True

    def _move(self, c: int, host: int, by: int) -> None:
        traffic_class = self._classes[c]
        self.free[host] -= by * self._kinds.amounts[traffic_class.kind]
        self._room[traffic_class.kind, host] -= by
        self._flat[self._at[self._limits_of[c], host]] -= by
        self._count(list(traffic_class.nodes), host, by)

    def slack(self, classes: Collection[int], level: str) -> np.ndarray:
        """[domain]: number of further members of the classes that the limits
        allow. Only limits that apply to all of these classes count."""
        found = np.full(len(self._kinds.table.division(level).domains),
                        UNLIMITED_MEMBERS, dtype=np.int64)
        for number, (flags, own) in enumerate(zip(self._flags, self._levels)):
            if own == level and all(flags[c] for c in classes):
                start = self._starts[number]
                found = np.minimum(
                    found, self._flat[start:start + len(found)])
        return found.clip(0)

    def full_hosts(self) -> np.ndarray:
        """[host]: whether a limit for all members of the group excludes
        further members."""
        found = np.zeros(len(self.free), dtype=bool)
        for number, about in enumerate(self._member_counts):
            if about == len(self._kinds.members):
                found |= self._flat[self._at[number]] <= 0
        return found

    def _limit(self, paths: Collection[str], level: str,
               most: np.ndarray) -> None:
        """Add a limit on the number of these members in each domain.

        :param most: [domain]: maximum number, including members that stay
        """
        placed_counts = self._kinds.table.division(level).counts([
            host for path, host in self._kinds.placed.items()
            if path in paths])
        self._levels.append(level)
        self._member_counts.append(len(paths))
        # The last place is for hosts in no domain.
        self._left.append(np.append(
            np.minimum(most, UNLIMITED_MEMBERS) - placed_counts[:-1],
            UNLIMITED_MEMBERS))
        self._flags.append([not paths.isdisjoint(traffic_class.paths)
                            for traffic_class in self._classes])

    def _index(self) -> None:
        """Store all limits in one array."""
        self._flat = np.concatenate(self._left).astype(np.int64)
        sizes = [len(left) for left in self._left]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._at = np.array([
            start + self._kinds.table.division(level).of_host % size
            for start, level, size in zip(
                self._starts, self._levels, sizes)])
        flags = np.array(self._flags, dtype=bool)
        self._limits_of = [np.flatnonzero(flags[:, c])
                           for c in range(len(self._classes))]

    def _count(self, nodes: list[int], host: int, by: int) -> None:
        for level, where in self._where.items():
            self.numbers[level][nodes, where[host]] += by
