# SPDX-License-Identifier: Apache-2.0
"""An ordering of the hosts by the places of a relaxation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.construct.attempt import Attempt, Ordering
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.problem.case import Case


@dataclass(frozen=True, slots=True, eq=False)
class PlacesFirst:
    """A score that prefers hosts with a place for the member.

    :ivar base: the ordering of the hosts with a place, and of all others
    :ivar left: [kind, host]: places before the attempt
    :ivar kinds: [class]: its kind; None if its members have no places
    """

    base: Ordering
    left: np.ndarray
    kinds: Sequence[int | None]

    @classmethod
    def of(cls, base: Ordering, places: KindPlaces, case: Case,
           hosts: np.ndarray, where: Mapping[str, Host]) -> 'PlacesFirst':
        """The ordering of the hosts of a case.

        :param hosts: [host of the case]: index in the snapshot
        :param where: path to host of the members that are placed already
        """
        left = places.places[:, hosts]
        index, kind_of = case.table.index, places.kind_of
        for path, host in where.items():
            if path in kind_of and host.name in index:
                left[kind_of[path], index[host.name]] -= 1
        return cls(base, left, [kind_of.get(each.members[0].path)
                                for each in case.classes])

    def with_base(self, base: Ordering) -> 'PlacesFirst':
        """The same places with another ordering."""
        return replace(self, base=base)

    def __call__(self, attempt: Attempt) -> np.ndarray:
        score = self.base(attempt)
        kind = self.kinds[attempt.current]
        if kind is None:
            return score
        left = self.left[kind].copy()
        for counts, other in zip(attempt.counts, self.kinds):
            if other == kind:
                for host, number in counts.items():
                    left[host] -= number
        # Every host with a place comes before all others.
        return np.where(left > 0, score - np.ptp(score) - 1.0, score)
