# SPDX-License-Identifier: Apache-2.0
"""The members of a group by kind, and the room of each host for each kind,
before any policy is encoded."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.policy import Policy
from nova_holistic.solver.limits.current import problem as current_limits
from nova_holistic.solver.problem.coarse_kinds import coarse
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.eligibility import (
    Admission, admits_some, amounts_of, demands, Eligibility, total_demand)
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.member_classes import without_flavors


@dataclass(frozen=True, slots=True)
class Kind:
    """Members with the same requirements, and with the same hard policies that
    exclude hosts.

    :ivar room: [host]: maximum number of these members
    """

    requirements: Requirements
    members: tuple[Member, ...]
    room: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The members without a host, by kind, and the hosts for them.

    :ivar members: all members of the group, in document order
    :ivar placed: member path to host index, of each member that stays
    :ivar names: resource classes that the members request
    :ivar amounts: [kind, resource class]: requested amount per member
    :ivar total: [resource class]: amount that all members without a host
        request
    :ivar free: [host, resource class]: free amount, at least 0
    :ivar room: [kind, host]: maximum number of members
    :ivar most_on_a_host: maximum number of members of all kinds on one host
    """

    group: Group
    table: HostTable
    members: tuple[Member, ...]
    placed: Mapping[str, int]
    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    amounts: np.ndarray
    total: np.ndarray
    free: np.ndarray
    room: np.ndarray
    most_on_a_host: int

    @classmethod
    def of(cls, group: Group, snapshot: Snapshot, placed: Mapping[str, str],
           in_time: InTime = no_limit, most: int | None = None
           ) -> 'Kinds | None':
        """Group the members by kind; None if a member that stays or its host
        is unknown, or if the number of kinds times hosts is too large.

        :param placed: path to host name of the members that stay
        :param most: maximum number of kinds; if it is exceeded, members that
            request similar amounts form one kind, which requests the minimum
        """
        table = HostTable.of(snapshot)
        members = group.all_members()
        paths = {member.path for member in members}
        if any(path not in paths or host not in table.index
               for path, host in placed.items()):
            return None
        at = {path: table.index[host] for path, host in placed.items()}
        waiting = [m for m in members if m.path not in at]
        kinds = _kinds(group, table, waiting, in_time, most)
        if kinds is None:
            return None
        demand_of = [demands(kind.requirements) for kind in kinds]
        names = tuple(sorted({
            name for each in demand_of for name, _ in each}))
        free = np.array([table.amounts(name).free.clip(0) for name in names],
                        dtype=np.int64).reshape(len(names), len(table)).T
        room = np.array([kind.room for kind in kinds]).reshape(
            len(kinds), len(table))
        total = total_demand(waiting)
        return cls(
            group, table, members, at, kinds, names,
            amounts_of(demand_of, names),
            np.array([total[name] for name in names], dtype=np.int64),
            free, room, most_on_a_host(
                limits_per_host(group), [m.path for m in waiting]))

    @property
    def is_coarse(self) -> bool:
        """Whether members request more than their kinds do."""
        return bool((self.total != self.numbers @ self.amounts).any())

    @property
    def numbers(self) -> np.ndarray:
        """[kind]: number of members."""
        return np.array([len(kind.members) for kind in self.kinds])

    @property
    def placed_hosts(self) -> np.ndarray:
        """Indexes of the hosts of the members that stay."""
        return np.unique(np.array([*self.placed.values()], dtype=np.int64))

    @property
    def kind_of(self) -> dict[str, int]:
        """Path of each member without a host to the number of its kind."""
        return {m.path: k for k, kind in enumerate(self.kinds)
                for m in kind.members}

    @property
    def lacks_room(self) -> bool:
        """Whether the hosts have too little room for the members of a kind.
        """
        return bool((self.room.sum(axis=1) < self.numbers).any())


def _kinds(group: Group, table: HostTable, waiting: list[Member],
           in_time: InTime, most: int | None) -> tuple[Kind, ...] | None:
    paths = {m.path for m in waiting}
    screens: dict[str, list[Policy]] = {path: [] for path in paths}
    limits: dict[str, list[tuple[int, int]]] = {path: [] for path in paths}
    for number, scope in enumerate(group.scopes()):
        screening = [p for p in scope.group.policies
                     if p.hard and admits_some(p)]
        limit = limit_per_host(scope)
        in_time()
        for member in scope.members if screening or limit else ():
            if member.path in paths:
                screens[member.path].extend(screening)
                if limit is not None:
                    limits[member.path].append((number, limit))
    found: dict[tuple, list[Member]] = {}
    requirements_of = without_flavors(waiting)
    for member in waiting:
        key = requirements_of[member.path], tuple(screens[member.path])
        found.setdefault(key, []).append(member)
    is_coarse = most is not None and len(found) > most
    if is_coarse:
        found = coarse(found, most)
    if len(found) * len(table) > current_limits().kind_places:
        return None
    eligibility, admitted = Eligibility(table), Admission.of(table)
    kinds = []
    for (requirements, screening), members in found.items():
        in_time()
        alike = {m.requirements for m in members} if is_coarse else ()
        room = eligibility.room(
            requirements, _limit_on_one_host(members, limits), alike)
        for policy in screening:
            room[~admitted[policy]] = 0
        kinds.append(Kind(requirements, tuple(members), room))
    return tuple(kinds)


def _limit_on_one_host(members: list[Member], limits: Mapping) -> int:
    """An upper limit on the number of these members on one host, regardless of
    all other members. Only the innermost limit of each member is applied."""
    inner: dict[tuple[int, int] | None, int] = {}
    for member in members:
        last = limits[member.path][-1] if limits[member.path] else None
        inner[last] = inner.get(last, 0) + 1
    return sum(number if limit is None else min(number, limit[1])
               for limit, number in inner.items())


def limit_per_host(scope: Scope) -> int | None:
    """The smallest of the limits per host of the scope's hard policies; None
    if none of them has such a limit."""
    return min((most for policy in scope.group.rules if (
        most := policy.most_on_a_host(scope)) is not None), default=None)


def limited_scopes(group: Group) -> list[tuple[int, Scope]]:
    """The limit per host and the scope of each group with such a limit."""
    return [(limit, scope) for scope in group.scopes()
            if (limit := limit_per_host(scope)) is not None]


def limits_per_host(group: Group) -> dict[str, int]:
    """Path to the limit per host, for each group that has such a limit."""
    return {scope.path: limit for limit, scope in limited_scopes(group)}


def most_on_a_host(limits: Mapping[str, int], paths: Collection[str]) -> int:
    """An upper limit on the number of members on one host, from the limits
    that hard policies declare.

    :param limits: the result of ``limits_per_host``
    :param paths: paths of the members
    """
    numbers = Counter(map(_above, paths))
    for path in [*numbers]:
        while path:
            path = _above(path)
            numbers.setdefault(path, 0)
    # A path is longer than the paths of the groups around it.
    for path in sorted(numbers, key=len, reverse=True):
        number = min(numbers[path], limits.get(path, numbers[path]))
        if not path:
            return number
        numbers[_above(path)] += number
    return 0


def _above(path: str) -> str:
    """The path of the group around a member or a group."""
    return path.rpartition('/')[0]
