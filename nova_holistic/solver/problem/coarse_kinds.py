# SPDX-License-Identifier: Apache-2.0
"""A smaller number of kinds, for a relaxation of a group with many different
members.

A coarse kind requests no more than any of its members. Therefore, a bound for
the coarse kinds is a bound for the group.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
import heapq
from itertools import count

import numpy as np

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.problem.eligibility import demands

Found = Mapping[tuple[Requirements, Hashable], Sequence[Member]]
"""Members by their requirements and by their other differences."""


def coarse(found: Found, most: int) -> dict[tuple, list[Member]]:
    """Merge the members into at most ``most`` kinds.

    Members are merged only if they differ only in the amounts of the same
    resource classes. The merged kind requests the minimum of each amount.

    :param most: maximum number of kinds; exceeded only if more kinds differ
        in other properties
    :returns: members by the requirements of the merged kind and by their
        other differences
    """
    similar: dict[tuple, list[tuple]] = {}
    for key in found:
        requirements, rest = key
        names = tuple(name for name, _ in demands(requirements))
        similar.setdefault((
            replace(requirements, resources=FrozenMapping()), names, rest),
            []).append(key)
    order = count()
    heap: list[tuple[float, int, _Cluster]] = []
    for keys in similar.values():
        cluster = _Cluster.of(keys, found)
        heapq.heappush(heap, (-cluster.loss, next(order), cluster))
    while len(heap) < most and heap[0][2].loss:
        for half in heapq.heappop(heap)[2].halves():
            heapq.heappush(heap, (-half.loss, next(order), half))
    result: dict[tuple, list[Member]] = {}
    for _, _, cluster in sorted(heap, key=lambda each: each[1]):
        (requirements, rest), *_ = cluster.keys
        least = replace(requirements, resources=FrozenMapping(dict(zip(
            cluster.names, cluster.amounts.min(axis=0).tolist()))))
        result[least, rest] = [
            member for key in cluster.keys for member in found[key]]
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """Kinds that are merged into one.

    :ivar keys: requirements and other differences of each kind
    :ivar names: resource classes that the kinds request
    :ivar amounts: [key, resource class]: requested amount
    :ivar numbers: [key]: number of members
    """

    keys: Sequence[tuple[Requirements, Hashable]]
    names: tuple[str, ...]
    amounts: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, keys: Sequence[tuple], found: Found) -> '_Cluster':
        names = tuple(name for name, _ in demands(keys[0][0]))
        return cls(keys, names, np.array(
            [[amount for _, amount in demands(requirements)]
             for requirements, _ in keys],
            dtype=np.int64).reshape(len(keys), len(names)),
            np.array([len(found[key]) for key in keys]))

    @property
    def loss(self) -> float:
        """The reduction of the requested amounts by merging, in multiples of
        the minimum amounts, summed over members and resource classes."""
        if len(self.keys) == 1 or not self.names:
            return 0.0
        least = self.amounts.min(axis=0)
        return float(self.numbers @ (self.amounts / least - 1).sum(axis=1))

    def halves(self) -> tuple['_Cluster', '_Cluster']:
        """Split at the midpoint of the amounts with the largest ratio."""
        widest = int(np.argmax(
            self.amounts.max(axis=0) / self.amounts.min(axis=0)))
        column = self.amounts[:, widest]
        upper = column > (column.min() + column.max()) / 2
        return self._some(~upper), self._some(upper)

    def _some(self, mask: np.ndarray) -> '_Cluster':
        return _Cluster([self.keys[n] for n in np.flatnonzero(mask)],
                        self.names, self.amounts[mask], self.numbers[mask])
