# SPDX-License-Identifier: Apache-2.0
"""Domains of one level that are equal for one star, and the best patterns of
its nodes' members for them."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.traffic.traffic_graph import Star


@dataclass(frozen=True, slots=True, eq=False)
class DomainTypes:
    """Domains of one level, grouped by place and limits.

    :ivar place: [type]: index of the place that contains its domains
    :ivar caps: [type, node of the star]: maximum number of members
    :ivar joint: [type]: maximum number of members of all nodes together
    :ivar number: [type]: number of domains
    """

    star: Star
    place: np.ndarray
    caps: np.ndarray
    joint: np.ndarray
    number: np.ndarray

    @classmethod
    def of(cls, star: Star, place: np.ndarray, caps: np.ndarray,
           joint: np.ndarray) -> 'DomainTypes':
        """Return the types of domains with these places and limits, without
        domains that cannot hold a pair.

        :param place: [domain]: index of the place that contains it
        :param caps: [domain, node of the star]: maximum number of members
        :param joint: [domain]: maximum number of members of all nodes
        """
        # Members of two nodes are counted twice.
        joint = np.minimum(joint + np.minimum(joint, star.shared),
                           caps.sum(axis=1))
        types = np.column_stack((place, caps, joint)).astype(np.int64)
        useful = (caps[:, 0] > 0) & (caps[:, 1:] > 0).any(axis=1)
        types, number = _distinct(types[useful])
        return cls(star, types[:, 0], types[:, 1:-1], types[:, -1], number)

    def best(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each type, the profit of the best pattern, and the pattern. The
        profit is the Mbit/s between the members, less the price of each.

        The result is exact. If the number of the centre's members is given,
        the profit of each member of a leaf is independent of the other
        members. Therefore the members of the highest profit are added first,
        until the domain is full.

        :param prices: [type, node of the star], not negative
        """
        count = np.arange(self.caps[:, 0].max(initial=0) + 1)
        left = self.joint[:, None] - count
        fits = (count <= self.caps[:, [0]]) & (left >= 0)
        profit = -prices[:, [0]] * count
        gains = (np.array(self.star.mbps)[:, None, None] * count
                 - prices[:, 1:].T[:, :, None])
        order = np.argsort(-gains, axis=0, kind='stable')
        taken = np.zeros(gains.shape, dtype=np.int64)
        of_type = np.arange(len(self.place))[:, None]
        for turn in order:
            gain = np.take_along_axis(gains, turn[None], 0)[0]
            number = np.where(gain > 0, np.minimum(
                self.caps[of_type, turn + 1], left.clip(0)), 0)
            np.put_along_axis(taken, turn[None], number[None], 0)
            left = left - number
            profit = profit + gain * number
        best = np.argmax(np.where(fits, profit, -np.inf), axis=1)
        rows = np.arange(len(best))
        return profit[rows, best], np.column_stack(
            (best, *taken[:, rows, best]))

    def pairs(self, of_type: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Mbit/s within each pattern, which does not depend on the type.

        :param patterns: [pattern, node of the star]: number of members
        """
        return patterns[:, 0] * (patterns[:, 1:] @ np.array(self.star.mbps))


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows in ascending order, and how many are equal to each.
    For many rows, this is faster than ``np.unique``.

    :param rows: whole numbers, not negative
    """
    key, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        more = int(column.max(initial=0)) + 1
        if size * more > np.iinfo(np.int64).max:
            different, key = np.unique(key, return_inverse=True)
            size = len(different)
        key, size = key * more + column, size * more
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    return rows[first], number
