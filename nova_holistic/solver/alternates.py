# SPDX-License-Identifier: Apache-2.0
"""Other hosts that could take members, whichever of them need one.

Builds fail in any number, and nobody asks again before a server goes on to an
alternate. So any choice of one host for each member, its planned one or an
alternate, keeps the group's hard policies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.case import Case, MemberClass
from nova_holistic.solver.hosts import HostTable
from nova_holistic.solver.ranges import Ranges

_LOOKS = 20
"""Hosts in vain after which no more are looked for, for one member."""


def alternates(group: Group, snapshot: Snapshot, plan: Plan, limit: int, *,
               placed: Mapping[str, str] = FrozenMapping(),
               given: Mapping[str, Sequence[str]] = FrozenMapping()
               ) -> dict[str, tuple[str, ...]]:
    """Member path to names of such hosts, the emptiest first.

    Each keeps the member's requirements, and capacity after the whole plan.
    Where they are few everyone gets one before anyone gets a second. The
    planned host is never among them.

    :param limit: most hosts a member
    :param placed: members that stay, whose use is in the snapshot already:
        they get none
    :param given: alternates that those have
    """
    snapshot = snapshot.without_servers(placed.values())
    table = HostTable.of(snapshot)
    index = table.index
    also = {path: [index[other] for other in given[path] if other in index]
            for path in given.keys() & placed.keys()}
    case = Case.of(bind(group, snapshot), snapshot, placed, table=table,
                   also=also)
    places = {path: [index[name], *also.get(path, ())]
              for path, name in plan.hosts().items()}
    ranges = Ranges(case, places)
    room = _Room(case, places)
    found: dict[str, list[int]] = {m.path: [] for m in case.members}
    seeking = [_Seeker(m.path, each, room.suits(m.path, each, case.room[c]))
               for c, each in enumerate(case.classes) for m in each.members]
    for _ in range(limit):
        further = {seeker.path: host for seeker in seeking
                   if (host := seeker.next(ranges, room)) is not None}
        kept = further.keys() - _broken(case, places, further)
        seeking = [each for each in seeking if each.path in kept]
        for each in seeking:
            found[each.path].append(further[each.path])
    return {path: tuple(case.table.hosts[h].name for h in hosts)
            for path, hosts in found.items()}


@dataclass(slots=True)
class _Seeker:
    """A member, and the hosts that it may still be given.

    :ivar left: how often a host may still turn out to be none for it
    """

    path: str
    alike: MemberClass
    suits: np.ndarray
    left: int = _LOOKS

    def next(self, ranges: Ranges, room: '_Room') -> int | None:
        """The emptiest of them on which nothing is broken, if any."""
        self.suits &= ranges.open(self.path)
        while self.left:
            host = room.emptiest(self.suits & ranges.near(self.path))
            if host is None:
                host = room.emptiest(self.suits)
            if host is None:
                break
            self.suits[host] = False
            learned = ranges.learned
            if ranges.admits(self.path, host):
                ranges.add(self.path, host)
                room.promise(self.alike, host)
                return host
            if ranges.learned > learned:
                self.suits &= ranges.open(self.path)
            else:
                self.left -= 1
        return None


class _Room:
    """What the plan leaves free, and what is promised of that."""

    def __init__(self, case: Case, places: Mapping[str, Sequence[int]]):
        self._capacity: dict[str, np.ndarray] = {}
        self._free: dict[str, np.ndarray] = {}
        for each in case.classes:
            for name, amount in each.demands:
                amounts = case.table.amounts(name)
                column = self._free.setdefault(name, amounts.free.copy())
                self._capacity[name] = np.maximum(amounts.capacity, 1)
                for member in each.members:
                    column[places[member.path][0]] -= amount
        self._promised = {
            name: column.copy() for name, column in self._free.items()}
        self._emptiness = np.mean(
            [self._shares(name) for name in self._free],
            axis=0) if self._free else np.zeros(len(case.table))
        self._own = {member.path: places[member.path][0]
                     for each in case.classes for member in each.members}

    def suits(self, path: str, each: MemberClass,
              room: np.ndarray) -> np.ndarray:
        """Hosts with room for one more, but for the member's own."""
        suits = room > 0
        for name, amount in each.demands:
            suits = suits & (self._free[name] >= amount)
        suits[self._own[path]] = False
        return suits

    def emptiest(self, suits: np.ndarray) -> int | None:
        host = int(np.argmax(np.where(suits, self._emptiness, -1.0)))
        return host if suits[host] else None

    def promise(self, each: MemberClass, host: int) -> None:
        """One of those may come: others had better go elsewhere."""
        for name, amount in each.demands:
            self._promised[name][host] -= amount
        if self._promised:
            self._emptiness[host] = np.mean(
                [self._shares(name, host) for name in self._promised])

    def _shares(self, name: str, host: int | slice = slice(None)):
        return np.clip(self._promised[name][host]
                       / self._capacity[name][host], 0, 1)


def _broken(case: Case, places: Mapping[str, Sequence[int]],
            further: Mapping[str, int]) -> set[str]:
    """Members of policies whose own checks find fault where the rows do not.

    With all at these alternates, and with either half of them: to ask of
    each alone would take as long as there are members, squared.
    """
    paths = list(further)
    found: set[str] = set()
    for some in (paths, paths[::2], paths[1::2]):
        where = {path: case.table.hosts[host]
                 for path, (host, *_) in places.items()}
        where.update((path, case.table.hosts[further[path]]) for path in some)
        for each in case.policies:
            if each.policy.hard and each.policy.check(
                    each.scope, where, case.snapshot).count:
                found.update(member.path for member in each.scope.members)
    return found
