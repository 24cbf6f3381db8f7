# SPDX-License-Identifier: Apache-2.0
"""Patterns of two nodes over all domains of a cell together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.traffic.traffic_graph import Star


@dataclass(frozen=True, slots=True, eq=False)
class CellTable:
    """Traffic of two disjoint nodes within the domains of cells.

    The class has the interface of ``domain_types.DomainTypes``, with cells in
    place of types.

    :ivar place: [row]: index of the cell
    :ivar most_kept: [row, n, m]: upper bound of the Mbit/s that n and m
        members keep within domains; -inf if the cell has no room for them
    """

    star: Star
    place: np.ndarray
    most_kept: np.ndarray

    @property
    def number(self) -> np.ndarray:
        """[row]: 1."""
        return np.ones(len(self.place), dtype=np.int64)

    def best(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each row, the profit of the best pattern, and the pattern. Every
        pattern is evaluated.

        :param prices: [row, node of the star]
        """
        _, n, m = self.most_kept.shape
        profits = (self.most_kept
                   - prices[:, 0, None, None] * np.arange(n)[:, None]
                   - prices[:, 1, None, None] * np.arange(m))
        flat = profits.reshape(len(self.place), -1)
        best = np.argmax(flat, axis=1)
        return (flat[np.arange(len(best)), best],
                np.column_stack(np.divmod(best, m)))

    def pairs(self, of_type: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Mbit/s within each pattern.

        :param of_type: [pattern]: its row
        :param patterns: [pattern, node of the star]: number of members
        """
        return self.most_kept[of_type, patterns[:, 0], patterns[:, 1]]


class DomainAggregate(CellTable):
    """Traffic that a cell keeps within its domains, assuming that all of them
    are as good as the best of them.

    The bound is tighter than that of ``DomainTypes``: the program can halve
    the patterns of a type, and halves of full domains keep more pairs together
    than one whole domain that is less full.
    """

    __slots__ = ()

    @classmethod
    def of(cls, star: Star, place: np.ndarray, caps: np.ndarray,
           joint: np.ndarray,
           sizes: tuple[int, ...]) -> 'DomainAggregate | None':
        """Return the aggregate of domains with these places and limits. None
        if the star does not have two disjoint nodes, if too few domains are as
        good as the best, or if the table would be too large.

        :param place: [domain]: index of the cell that contains it
        :param caps: [domain, node of the star]: maximum number of members
        :param joint: [domain]: maximum number of members of all nodes
        :param sizes: number of members of each node
        """
        n, m = sizes[0] + 1, sizes[1] + 1
        if len(sizes) != 2 or star.shared or n * m > limits().aggregate_pairs:
            return None
        useful = (caps > 0).all(axis=1) & (joint > 1)
        places = np.unique(place[useful])
        known: dict[tuple[int, ...], np.ndarray] = {}
        found = []
        for each in places.tolist():
            in_place = useful & (place == each)
            one, other = caps[in_place].max(axis=0).tolist()
            most = int(joint[in_place].max())
            alike = in_place & (caps == (one, other)).all(axis=1) & (
                joint == most)
            if alike.sum() * most < sum(sizes) + most:
                return None
            key = one, other, most, int(in_place.sum())
            if key not in known:
                known[key] = star.mbps[0] * _maximum_pairs(n, m, *key)
            found.append(known[key])
        return cls(star, places, np.array(found).reshape(len(places), n, m))

    def first(self, place: int, numbers: Sequence[int],
              joint: int) -> tuple[int, int] | None:
        """Members of each node in one domain, in a distribution that keeps the
        most pairs. The domain is the best one of the distribution. None for
        other places."""
        part = np.flatnonzero(self.place == place)
        if not len(part):
            return None
        kept = self.most_kept[part[0]]
        a, b = (min(n, most - 1) for n, most in zip(numbers, kept.shape))
        own = self.star.mbps[0] * np.multiply.outer(
            np.arange(a + 1), np.arange(b + 1))
        # After (i, j), the remaining numbers are (a - i, b - j).
        total = own + kept[a::-1, b::-1]
        full = np.add.outer(np.arange(a + 1), np.arange(b + 1)) > joint
        total[full] = -1
        best = np.argmax(np.where(total == total.max(), own, -1))
        return tuple(map(int, np.divmod(best, b + 1)))


def _maximum_pairs(n: int, m: int, one: int, other: int, joint: int,
                   number: int) -> np.ndarray:
    """[a, b]: pairs that this number of equal domains keeps, of a and b
    members.

    If the same number of members of either side moves from one domain to
    another, the number of pairs is a convex function of that number. Therefore
    an optimal distribution exists in which no such move is possible between
    any two domains: each domain but one has no room for one more pair, or
    holds no pair, or holds as many members of a side as it can. It is
    sufficient to try such patterns for one domain after another, and any
    pattern for the last.
    """
    a, b = np.ogrid[:n, :m]
    a, b = np.minimum(a, one), np.minimum(b, other)
    half = joint // 2
    # The largest product within the limits has nearly equal factors.
    few = np.minimum(np.minimum(a, b), half)
    many = np.minimum(np.maximum(a, b), joint - few)
    found = few * many
    full = [(i, j) for i in range(1, min(one, n - 1) + 1)
            for j in {min(other, joint - i), min(other, joint - i - 1)}
            if 0 < j < m]
    full += [(one, j) for j in range(1, min(other, joint - one, m - 1) + 1)
             if one < n]
    for _ in range(number - 1):
        before = found.copy()
        for i, j in full:
            np.maximum(found[i:, j:], i * j + before[:n - i, :m - j],
                       out=found[i:, j:])
        if np.array_equal(before, found):
            break
    return found
