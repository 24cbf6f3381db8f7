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
    """A score that prefers hosts with a place for the member, then hosts with
    a place for a member of the same size. Members of one kind then use the
    places that members of the other kind leave.

    :ivar base: the ordering of hosts that are equal in this respect
    :ivar left: [kind, host]: places before the attempt; negative if members
        use the places of other kinds
    :ivar kinds: [class]: its kind; None if its members have no places
    :ivar size: [kind]: equal for kinds whose members request equal amounts
    """

    base: Ordering
    left: np.ndarray
    kinds: Sequence[int | None]
    size: np.ndarray

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
                                for each in case.classes], places.size)

    def with_base(self, base: Ordering) -> 'PlacesFirst':
        """The same places with another ordering."""
        return replace(self, base=base)

    def __call__(self, attempt: Attempt) -> np.ndarray:
        score = self.base(attempt)
        kind = self.kinds[attempt.current]
        if kind is None:
            return score
        alike = self.size == self.size[kind]
        own, all_alike = self.left[kind].copy(), self.left[alike].sum(axis=0)
        for counts, other in zip(attempt.counts, self.kinds):
            if other is not None and alike[other]:
                for host, number in counts.items():
                    all_alike[host] -= number
                    own[host] -= number * (other == kind)
        # Both preferences come before the score.
        some = all_alike > 0
        return score - (np.ptp(score) + 1.0) * (
            some.astype(int) + (some & (own > 0)))
