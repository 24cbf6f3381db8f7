# SPDX-License-Identifier: Apache-2.0
"""Upper bounds of the number of members in places, from counting."""

from collections.abc import Collection, Sequence
import copy
from typing import Self

import numpy as np

from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import InTime, no_limit


class Room:
    """Upper bounds, which decrease when domains are closed.

    :ivar room: [class, host]: upper bound of members of the class on the host
    :ivar work: number of places that were evaluated, here and in copies
    :ivar demands: of each class, by resource class
    """

    def __init__(self, case: Case, in_time: InTime = no_limit):
        self.case = case
        self._in_time = in_time
        self.room = case.room.copy()
        self.work = [0]
        self.demands = [dict(each.demands) for each in case.classes]
        self._takes: dict[tuple[int, str], np.ndarray] = {}
        self._members: dict[int, set[str]] = {}

    def copied(self) -> Self:
        """A copy whose domains can be closed independently."""
        other = copy.copy(self)
        other.room = self.room.copy()
        other._takes = {}
        return other

    def takes(self, scope: int, level: str) -> np.ndarray:
        """Upper bound of the scope's members in each domain; the last number
        is for hosts in no domain."""
        if (scope, level) not in self._takes:
            self._takes[scope, level] = self._count(scope, level)
        return self._takes[scope, level].copy()

    def _count(self, scope: int, level: str) -> np.ndarray:
        division = self.case.table.division(level)
        classes = self.case.classes_in(scope)
        self.count_work(len(classes))
        total = np.zeros(len(division.domains) + 1, dtype=np.int64)
        for c in classes:
            self._in_time()
            total += np.minimum(
                division.sums(self.room[c]).astype(np.int64),
                len(self.case.classes[c].members))
        most_on_hosts = division.sums(self.most_on_hosts(classes))
        return (np.minimum(total, most_on_hosts.astype(np.int64))
                + self.placed_counts(scope, level))

    def most_on_hosts(self, classes: Sequence[int]) -> np.ndarray:
        """Upper bound of the classes' members together on each host."""
        room = self.room[classes].sum(axis=0)
        demands = [self.demands[c] for c in classes]
        for name in sorted({name for each in demands for name in each}):
            least = min(each.get(name, 0) for each in demands)
            if least:
                free = self.case.table.amounts(name).free.clip(0)
                room = np.minimum(room, free // least)
        return room

    def placed_counts(self, scope: int, level: str) -> np.ndarray:
        """Number of the scope's members that are already placed, by domain;
        the last number is for hosts in no domain."""
        return self.case.table.division(level).counts(
            self.case.placed_in(scope))

    def members(self, scope: int) -> int:
        """Number of the scope's members, including placed members."""
        return len(self.case.rules.scopes[scope].members)

    def close(self, scope: int, level: str,
              domains: Collection[int]) -> bool:
        """Exclude the scope from the domains. Return whether any had room."""
        self._in_time()
        of_host = self.case.table.division(level).of_host
        closed = np.ix_(self.case.classes_in(scope),
                        np.isin(of_host, list(domains)))
        if not self.room[closed].any():
            return False
        self._takes.clear()
        self.room[closed] = 0
        return True

    def count_work(self, classes: int) -> None:
        """Check the time, and add the places of this number of classes to
        ``work``."""
        self._in_time()
        self.work[0] += classes * len(self.case.table)

    def paths(self, scope: int) -> set[str]:
        """Paths of the scope's members; empty if there is no scope."""
        if scope < 0:
            return set()
        if scope not in self._members:
            self._members[scope] = {
                m.path for m in self.case.rules.scopes[scope].members}
        return self._members[scope]
