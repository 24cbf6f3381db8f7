# SPDX-License-Identifier: Apache-2.0
"""Greedy construction of places for members with traffic: the largest patterns
in as few domains as possible, from coarse levels to hosts.

The construction respects capacity and upper bounds of counts. All other rules
are checked when the places are assigned to members.
"""

from collections.abc import Sequence
import itertools

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.numerics.tolerances import FEASIBILITY
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.traffic.apportionment import (
    apportioned, balanced, ClassCounts, filled)
from nova_holistic.solver.traffic.domain_types import DomainTypes
from nova_holistic.solver.traffic.remaining_capacity import (
    RemainingCapacity, TrafficClass)
from nova_holistic.solver.traffic.traffic_bound import TrafficBound
from nova_holistic.solver.traffic.traffic_graph import Star, TrafficGraph


class TrafficConstruction:
    """Fills domains with the members of one star after another.

    :ivar taken: for each class, host index to number of members there
    """

    def __init__(self, kinds: Kinds, graph: TrafficGraph, bound: TrafficBound,
                 remaining: RemainingCapacity,
                 traffic_classes: Sequence[TrafficClass], deadline: Deadline):
        self._kinds, self._graph, self._bound = kinds, graph, bound
        self._remaining, self._classes = remaining, traffic_classes
        self._deadline = deadline
        self.taken: list[dict[int, int]] = [{} for _ in traffic_classes]
        self._left = [len(traffic_class.paths)
                      for traffic_class in traffic_classes]

    def run(self, numbers: np.ndarray) -> None:
        """Place the given numbers of members in each cell, as far as possible.

        :param numbers: [part, cell]
        """
        partition = self._bound.partition
        levels = self._kinds.table.snapshot.levels
        fine = [level for level in levels if level not in partition.domain_of]
        budget = self._budget(numbers)
        for star in self._graph.stars:
            for cell in range(partition.count):
                unplaced: ClassCounts = {}
                for nodes, left_in_cell in budget.items():
                    if nodes & {*star.nodes}:
                        unplaced.update(apportioned(int(left_in_cell[cell]), {
                            c: self._left[c] for c, traffic_class
                            in enumerate(self._classes)
                            if traffic_class.nodes == nodes}))
                left = self._fill(star, fine, np.flatnonzero(
                    partition.of == cell), dict(unplaced))
                for c, number in unplaced.items():
                    budget[self._classes[c].nodes][cell] -= number - left[c]

    def _budget(self, numbers: np.ndarray
                ) -> dict[frozenset[int], np.ndarray]:
        """For the nodes of each class, members still to be placed by cell."""
        found = {}
        placed = self._kinds.placed
        for nodes in {traffic_class.nodes: None
                      for traffic_class in self._classes}:
            remaining = np.zeros(self._bound.partition.count, dtype=np.int64)
            for paths, row in zip(self._bound.variables.parts, numbers):
                if nodes == frozenset(
                        n for n, node in enumerate(self._graph.nodes)
                        if next(iter(paths)) in node.paths):
                    remaining += row
                    for path in paths & placed.keys():
                        remaining[self._bound.partition.of[placed[path]]] -= 1
            found[nodes] = remaining.clip(0)
        return found

    def _of_node(self, node: int, counts: ClassCounts) -> ClassCounts:
        """The counts of the classes whose members belong to the node."""
        return {c: n for c, n in counts.items()
                if node in self._classes[c].nodes}

    def _fill(self, star: Star, levels: Sequence[str], hosts: np.ndarray,
              unplaced: ClassCounts) -> ClassCounts:
        """Place members on the hosts. Return the members without a place."""
        if levels[0] == HOST:
            return self._pack_hosts(star, hosts, unplaced)
        of_host = self._kinds.table.division(levels[0]).of_host[hosts]
        opened = np.unique(of_host[of_host >= 0])
        while len(opened) and any(unplaced.values()):
            self._deadline.check()
            domain, pattern = self._choose(star, levels[0], opened, unplaced)
            if not any(pattern):
                break
            inside = hosts[of_host == domain]
            for slot, node in enumerate(star.nodes):
                pattern[slot] = min(pattern[slot], sum(
                    self._of_node(node, unplaced).values()))
            share = self._shares_of_pattern(star, pattern, unplaced)
            rest = self._fill(star, levels[1:], inside, dict(share))
            short = sum(rest.values())
            for c, number in share.items():
                unplaced[c] -= number - rest[c]
            if short:
                # Other members of the same nodes may fit instead.
                missing = [sum(self._of_node(node, rest).values())
                           for node in star.nodes]
                others = {c: n if not rest.get(c) else 0
                          for c, n in unplaced.items()}
                share = self._shares_of_pattern(star, missing, others)
                rest = self._fill(star, levels[1:], inside, dict(share))
                for c, number in share.items():
                    unplaced[c] -= number - rest[c]
            opened = opened[opened != domain]
        return unplaced

    def _choose(self, star: Star, level: str, domains: np.ndarray,
                unplaced: ClassCounts) -> tuple[int, list[int]]:
        """Return the domain that keeps the most traffic, and the number of
        members of each node to add there."""
        slots = [self._of_node(node, unplaced) for node in star.nodes]
        present = self._remaining.numbers[level][
            list(star.nodes)][:, domains].T
        more = np.column_stack([np.minimum(
            self._remaining.slack(slot, level)[domains],
            sum(slot.values())) for slot in slots])
        joint = self._remaining.slack([*unplaced], level)[domains]
        prices = self._prices(star, level, domains)
        target = self._target(star, level, domains, [
            sum(slot.values()) for slot in slots], joint)
        if sum(unplaced.values()) <= joint.max() or target is not None:
            prices = prices * 0
        if target is not None:
            more = np.minimum(more, target)
        types = DomainTypes(star, domains, present + more,
                            present.sum(axis=1) + joint, np.ones(len(domains)))
        profit, patterns = types.best(prices)
        new = (patterns - present).clip(0)
        gain = (types.pairs(domains, present + new)
                - types.pairs(domains, present))
        best = np.flatnonzero((gain > 0) & (
            profit >= profit.max() * (1 - FEASIBILITY)))
        if not gain.max():
            new = filled(more, joint)
            total = new.sum(axis=1)
            best = np.flatnonzero(total == total.max())
        if len(best) > 1:
            scores = [self._score(level, int(domains[n]), unplaced,
                                  int(new[n].sum())) for n in best]
            best = best[[int(np.argmax(scores))]]
        return int(domains[best[0]]), balanced(
            star, new[best[0]].tolist(), more[best[0]].tolist())

    def _prices(self, star: Star, level: str,
                domains: np.ndarray) -> np.ndarray:
        """Slightly less than the profit of members elsewhere, so that patterns
        of exactly this profit are chosen."""
        return (1 - FEASIBILITY) * self._bound.prices(star, level)[
            self._cells_of(level, domains)]

    def _cells_of(self, level: str, domains: np.ndarray) -> np.ndarray:
        """Cells of domains of a fine level."""
        of_host = self._kinds.table.division(level).of_host
        place = np.zeros(of_host.max() + 1, dtype=np.int64)
        place[of_host[of_host >= 0]] = self._bound.partition.of[of_host >= 0]
        return place[domains]

    def _target(self, star: Star, level: str, domains: np.ndarray,
                left: list[int], joint: np.ndarray) -> np.ndarray | None:
        """Number of members of each node in the next domain, if an optimal
        distribution over all domains of its cell is known."""
        aggregate = self._bound.aggregate(star, level)
        if aggregate is None:
            return None
        place = int(self._cells_of(level, domains)[0])
        found = aggregate.first(place, left, int(joint.max()))
        return None if found is None or not any(found) else np.array(found)

    def _score(self, level: str, domain: int, unplaced: ClassCounts,
               number: int) -> float:
        """A score of the domain, which is higher if fewer hosts can hold this
        number of members."""
        hosts = np.flatnonzero(
            self._kinds.table.division(level).of_host == domain)
        fit = np.sort(self._fit(hosts, unplaced))[::-1]
        before = np.cumsum(fit) - fit
        return float((fit[before < number] ** 2).sum())

    def _fit(self, hosts: np.ndarray, unplaced: ClassCounts) -> np.ndarray:
        """Number of members of average size that each host can hold."""
        number = max(1, sum(unplaced.values()))
        mean = sum(self._kinds.amounts[self._classes[c].kind] * n
                   for c, n in unplaced.items()) / number
        found = self._remaining.slack([*unplaced], HOST)[
            self._kinds.table.division(HOST).of_host[hosts]].astype(float)
        for column in np.flatnonzero(mean).tolist():
            found = np.minimum(
                found, self._remaining.free[hosts, column] / mean[column])
        return found

    def _shares_of_pattern(self, star: Star, pattern: Sequence[int],
                           unplaced: ClassCounts) -> ClassCounts:
        """Prefer classes with traffic to most nodes, so that they are placed
        together."""
        found: ClassCounts = {}
        for node, number in zip(star.nodes, pattern):
            slot = {c: n - found.get(c, 0)
                    for c, n in self._of_node(node, unplaced).items()}
            node_counts = {len(self._classes[c].nodes) for c in slot}
            for node_count in sorted(node_counts, reverse=True):
                share = apportioned(int(number), {
                    c: n for c, n in slot.items()
                    if len(self._classes[c].nodes) == node_count})
                for c, host_counts in share.items():
                    found[c] = found.get(c, 0) + host_counts
                    number -= host_counts
        return found

    def _pack_hosts(self, star: Star, hosts: np.ndarray,
                    unplaced: ClassCounts) -> ClassCounts:
        """Place batches of one member of each node, the largest first. Use as
        few hosts as possible, and for each batch the host with the most free
        capacity."""
        size = self._sizes(unplaced)
        batches = self._batches(star, unplaced, size)
        fit = self._fit(hosts, unplaced)
        order = hosts[np.argsort(-fit, kind='stable')]
        opened = 1 + int(np.searchsorted(
            np.cumsum(np.sort(fit)[::-1]), sum(unplaced.values())))
        for batch in batches:
            self._deadline.check()
            # Open more hosts if the others have no room for the batch.
            for number in range(min(opened, len(order)), len(order) + 1):
                chosen = order[:number] if number <= opened else (
                    order[number - 1:number])
                if self._place_batch(batch, chosen, size, unplaced):
                    opened = max(opened, number)
                    break
            else:
                for c in batch:
                    self._place_batch([c], order, size, unplaced)
        return unplaced

    def _sizes(self, unplaced: ClassCounts) -> np.ndarray:
        """[resource class]: weight of one unit, the inverse of the total
        demand."""
        needed = sum(self._kinds.amounts[self._classes[c].kind] * n
                     for c, n in unplaced.items())
        return 1 / np.maximum(needed, 1e-3)

    def _batches(self, star: Star, unplaced: ClassCounts,
                 size: np.ndarray) -> list[list[int]]:
        """Batches of classes: one member of each node, while members remain.
        """
        weight = {c: float((self._kinds.amounts[self._classes[c].kind]
                            * size).max(initial=0)) for c in unplaced}
        sides, left = [], dict(unplaced)
        for node in star.nodes:
            classes = sorted(self._of_node(node, left),
                             key=lambda c: (-weight[c], c))
            sides.append([c for c in classes for _ in range(left.pop(c))])
        batches = [[c for c in batch if c is not None]
                   for batch in itertools.zip_longest(*sides)]
        return sorted(batches, key=lambda batch: -sum(
            weight[c] for c in batch))

    def _place_batch(self, batch: Sequence[int], hosts: np.ndarray,
                     size: np.ndarray, unplaced: ClassCounts) -> bool:
        """Place the whole batch on the host with the most free capacity."""
        left = (self._remaining.free[hosts] * size).min(axis=1, initial=np.inf)
        for host in hosts[np.argsort(-left, kind='stable')].tolist():
            if self._remaining.place_all(batch, host):
                for c in batch:
                    self.taken[c][host] = self.taken[c].get(host, 0) + 1
                    unplaced[c] -= 1
                    self._left[c] -= 1
                return True
        return False
