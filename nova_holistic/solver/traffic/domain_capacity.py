# SPDX-License-Identifier: Apache-2.0
"""Upper bounds of the number of given members in each domain of the tree."""

from collections.abc import Collection

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.problem.kinds import (
    Kinds, limits_per_host, most_on_a_host)
from nova_holistic.solver.traffic.count_bounds import CountBounds


class DomainCapacity:
    """Bounds from capacity, from the limits per host of rules, and from the
    rows of rules.

    A domain holds at most the sum of its finer domains. Members that stay are
    counted in their domains even if a bound excludes them.
    """

    def __init__(self, kinds: Kinds, bounds: CountBounds):
        self._kinds = kinds
        self._bounds = bounds
        self._levels = kinds.table.snapshot.levels
        self._known: dict[frozenset[str], dict[str, np.ndarray]] = {}
        self._limits_per_host = limits_per_host(kinds.group)
        self._kind_of = kinds.kind_of

    def of(self, paths: frozenset[str]) -> dict[str, np.ndarray]:
        """Level to [domain]: upper bound of the number of these members.

        :param paths: paths of the members
        """
        if paths not in self._known:
            self._known[paths] = self._compute(paths)
        return self._known[paths]

    def _compute(self, paths: frozenset[str]) -> dict[str, np.ndarray]:
        table, number = self._kinds.table, len(paths)
        placed_counts = self._placed_counts(paths)
        values = self._on_hosts(paths, placed_counts)
        where = np.arange(len(table))
        found = {}
        for level in reversed(self._levels):
            division = table.division(level)
            of = division.of_host[where]
            inside, domains = of >= 0, len(division.domains)
            total = np.bincount(of[inside], values[inside], domains)
            placed_inside = division.sums(placed_counts)[:-1]
            if level != HOST:
                for known, most in self._bounds.bounds_of(paths, level):
                    # The bound does not limit the other members.
                    total = np.minimum(total, most + (number - known))
            total = np.maximum(np.minimum(total, number), placed_inside)
            found[level] = total.astype(np.int64)
            # At the coarser levels, one of its hosts represents each domain.
            first = np.zeros(domains, dtype=np.int64)
            first[of[inside]] = where[inside]
            values = np.concatenate((total, values[~inside]))
            where = np.concatenate((first, where[~inside]))
        return found

    def _placed_counts(self, paths: Collection[str]) -> np.ndarray:
        found = np.zeros(len(self._kinds.table))
        for path, host in self._kinds.placed.items():
            found[host] += path in paths
        return found

    def _on_hosts(self, paths: Collection[str],
                  placed_counts: np.ndarray) -> np.ndarray:
        kinds = self._kinds
        number = np.bincount(
            [self._kind_of[path] for path in paths if path in self._kind_of],
            minlength=len(kinds.kinds))
        requested = np.flatnonzero(number)
        if not len(requested):
            return placed_counts
        take = np.minimum(
            kinds.room[requested], number[requested, None]).sum(axis=0)
        least = kinds.amounts[requested].min(axis=0)
        for column in np.flatnonzero(least).tolist():
            take = np.minimum(take, kinds.free[:, column] // least[column])
        return np.maximum(placed_counts, np.minimum(
            placed_counts + take,
            most_on_a_host(self._limits_per_host, paths)))
