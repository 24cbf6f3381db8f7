# SPDX-License-Identifier: Apache-2.0
"""Two nodes in all domains of a part of the tree at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.traffic.traffic_graph import Star


@dataclass(frozen=True, slots=True, eq=False)
class DomainAggregate:
    """What a part of the tree keeps within its domains, which are taken to be
    as good as the best of them.

    Like ``domain_types.DomainTypes`` of parts instead of domains, and tighter:
    a type's patterns may be halved, and halves of full domains keep more pairs
    together than a whole one that is less full.

    :ivar place: of each part
    :ivar number: 1 of each
    :ivar worth: [part, n, m]: pairs at most, of n and m members
    """

    star: Star
    place: np.ndarray
    number: np.ndarray
    worth: np.ndarray

    @classmethod
    def of(cls, star: Star, place: np.ndarray, caps: np.ndarray,
           joint: np.ndarray,
           sizes: tuple[int, ...]) -> 'DomainAggregate | None':
        """Of domains, each with its place and limits; None where too few are
        as good as the best, or there is too much to look at.

        :param sizes: members of either node
        """
        n, m = sizes[0] + 1, sizes[1] + 1
        if len(sizes) != 2 or star.shared or n * m > limits().aggregate_pairs:
            return None
        useful = (caps > 0).all(axis=1) & (joint > 1)
        places = np.unique(place[useful])
        known: dict[tuple[int, ...], np.ndarray] = {}
        found = []
        for each in places.tolist():
            here = useful & (place == each)
            one, other = caps[here].max(axis=0).tolist()
            most = int(joint[here].max())
            alike = here & (caps == (one, other)).all(axis=1) & (joint == most)
            if alike.sum() * most < sum(sizes) + most:
                return None
            key = one, other, most, int(here.sum())
            if key not in known:
                known[key] = _within(n, m, *key)
            found.append(known[key])
        return cls(star, places, np.ones(len(places), dtype=np.int64),
                   np.array(found).reshape(len(places), n, m))

    def best(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As ``domain_types.DomainTypes.best``: every pattern is looked at."""
        _, n, m = self.worth.shape
        value = (self.worth * self.star.mbps[0]
                 - prices[:, 0, None, None] * np.arange(n)[:, None]
                 - prices[:, 1, None, None] * np.arange(m))
        flat = value.reshape(len(self.place), -1)
        best = np.argmax(flat, axis=1)
        return (flat[np.arange(len(best)), best],
                np.column_stack(np.divmod(best, m)))

    def first(self, place: int, numbers: Sequence[int],
              joint: int) -> tuple[int, int] | None:
        """How many of the members one domain has where all of them keep most
        pairs, the domain that keeps most itself; None of another place."""
        part = np.flatnonzero(self.place == place)
        if not len(part):
            return None
        worth = self.worth[part[0]]
        a, b = (min(n, most - 1) for n, most in zip(numbers, worth.shape))
        here = np.multiply.outer(np.arange(a + 1), np.arange(b + 1))
        # What is left after (i, j) is (a - i, b - j).
        total = here + worth[a::-1, b::-1]
        full = np.add.outer(np.arange(a + 1), np.arange(b + 1)) > joint
        total[full] = -1
        best = np.argmax(np.where(total == total.max(), here, -1))
        return tuple(map(int, np.divmod(best, b + 1)))

    def pairs(self, of_type: np.ndarray, patterns: np.ndarray) -> np.ndarray:
        """Mbit/s within each pattern, of the part of that number."""
        return self.worth[of_type, patterns[:, 0],
                          patterns[:, 1]] * self.star.mbps[0]


def _within(n: int, m: int, one: int, other: int, joint: int,
            number: int) -> np.ndarray:
    """[a, b]: pairs that so many equal domains keep, of a and b members.

    Moving the same number of either side from one domain to another changes
    the pairs by a convex function of that number. So there is a best way in
    which such moves are at an end, for any two domains: all but one hold a
    pair less than they can, or no pair, or as many of a side as they can.
    Hence it is enough to try such patterns for one domain after another, and
    anything for the last.
    """
    a, b = np.ogrid[:n, :m]
    a, b = np.minimum(a, one), np.minimum(b, other)
    half = joint // 2
    # The largest product within the limits: as equal as can be.
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
