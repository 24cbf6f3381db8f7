# SPDX-License-Identifier: Apache-2.0
"""Shortlists of hosts from which the alternates of members are chosen.

A large cloud has many more hosts than a group can have alternates. Therefore,
each member description has a shortlist of the emptiest hosts: some of the
whole cloud, some of each domain that contains its members, and one of each
domain, at the levels that hard policies name. Hosts that are on no other
shortlist come first, because separated members cannot share a host.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.limits.current import alternates as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable


@dataclass(slots=True)
class Room:
    """The capacity that the plan leaves free, and its reservations for
    alternates.

    :ivar free: resource class to [host]: free amount, without reservations
    :ivar emptiness: [host]: mean share of the requested resource classes that
        is free and not reserved, from 0 to 1
    """

    free: Mapping[str, np.ndarray]
    _capacity: Mapping[str, np.ndarray]
    _reserved: Mapping[str, np.ndarray]
    emptiness: np.ndarray

    @classmethod
    def of(cls, table: HostTable, members: Sequence[Member],
           own: Mapping[str, int]) -> 'Room':
        """Return the room that remains after the plan.

        :param members: members that the snapshot does not count
        :param own: path of each of these members to the index of its planned
            host
        """
        amounts_of = {id(m.requirements): demands(m.requirements)
                      for m in members}
        names = requested_classes(members)
        free = {name: table.amounts(name).free.copy() for name in names}
        capacity = {name: np.maximum(table.amounts(name).capacity, 1)
                    for name in names}
        for member in members:
            for name, amount in amounts_of[id(member.requirements)]:
                free[name][own[member.path]] -= amount
        emptiness = np.mean(
            [np.clip(free[name] / capacity[name], 0, 1) for name in names],
            axis=0) if names else np.zeros(len(table))
        return cls(free, capacity,
                   {name: each.copy() for name, each in free.items()},
                   emptiness)

    def reserve(self, requirements: Requirements, host: int) -> None:
        """Reserve room on the host for a member with these requirements, so
        that other members prefer other hosts."""
        for name, amount in demands(requirements):
            self._reserved[name][host] -= amount
        if self._reserved:
            self.emptiness[host] = np.mean([
                min(1.0, max(0.0, each[host] / self._capacity[name][host]))
                for name, each in self._reserved.items()])


@dataclass(slots=True)
class Shortlists:
    """Shortlists of the descriptions of members.

    :ivar own: path of each member to the index of its planned host
    :ivar levels: levels that hard policies name, except the host level
    :ivar limit: maximum number of alternates of one member
    :ivar each: number of hosts on a list for each member of the description
    :ivar taken: [host]: whether it is in the plan or on a shortlist
    """

    table: HostTable
    room: Room
    own: Mapping[str, int]
    levels: Sequence[str]
    limit: int
    each: int
    in_time: InTime
    taken: np.ndarray
    _eligible: Eligibility
    _ranked: dict[Requirements, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Group, table: HostTable, room: Room,
           own: Mapping[str, int], limit: int,
           in_time: InTime) -> 'Shortlists':
        """Prepare the shortlists of a group.

        :param own: path of each member of the group to the index of its
            planned host
        :param limit: maximum number of alternates of one member
        """
        taken = np.zeros(len(table), dtype=bool)
        taken[list(own.values())] = True
        levels = sorted({
            level for scope in group.scopes() for rule in scope.group.rules
            if rule.hard for level in rule.levels if level != HOST})
        each = max(limits().hosts_per_member,
                   min(limit, limits().hosts_of_group // max(1, len(own))))
        return cls(table, room, own, levels, limit, each, in_time, taken,
                   Eligibility(table))

    def of_members(self, members: Sequence[Member]
                   ) -> dict[str, np.ndarray]:
        """Path of each member to indexes of hosts, in ascending order."""
        descriptions: dict[str, list[Member]] = {}
        for member in members:
            descriptions.setdefault(member.description, []).append(member)
        found: dict[str, np.ndarray] = {}
        for some in descriptions.values():
            self.in_time()
            hosts = self._of(some)
            found.update((member.path, hosts) for member in some)
        return found

    def _of(self, members: Collection[Member]) -> np.ndarray:
        """The shortlist of members of one description."""
        ranked = self._best(next(iter(members)).requirements)
        if len(self.table) <= limits().all_hosts:
            return np.sort(ranked)
        parts = [self._first(ranked, len(members))]
        for level in self.levels:
            of_host = self.table.division(level).of_host
            domains = of_host[ranked]
            for domain, number in Counter(
                    of_host[self.own[m.path]] for m in members).items():
                parts.append(self._first(ranked[domains == domain], number))
            parts.append(self._one_each(ranked, level))
        hosts = np.unique(np.concatenate(parts))
        self.taken[hosts] = True
        return hosts

    def _first(self, ranked: np.ndarray, members: int) -> np.ndarray:
        """As many hosts as the members may need; hosts that are on no
        shortlist come first."""
        taken = self.taken[ranked]
        number = self.limit + self.each * members
        return np.concatenate((ranked[~taken], ranked[taken]))[:number]

    def _one_each(self, ranked: np.ndarray, level: str) -> np.ndarray:
        """The best host of each domain."""
        division = self.table.division(level)
        if len(division.domains) > limits().all_hosts:
            return ranked[:0]
        domains, first = np.unique(
            division.of_host[ranked], return_index=True)
        return ranked[first[domains >= 0]]

    def _best(self, requirements: Requirements) -> np.ndarray:
        """All hosts that can take one such member, the emptiest first."""
        key = replace(requirements, flavor=None)
        if key not in self._ranked:
            fits = self._eligible.suitable(requirements)
            for name, amount in demands(requirements):
                fits = fits & (self.room.free[name] >= amount)
            hosts = np.flatnonzero(fits)
            self._ranked[key] = hosts[np.argsort(
                -self.room.emptiness[hosts], kind='stable')]
        return self._ranked[key]


def masks(lists: Mapping[str, np.ndarray], own: Mapping[str, int],
          hosts: int) -> dict[str, np.ndarray]:
    """Member path to [host]: whether it is on the member's shortlist, or is
    the planned host of a member with the same shortlist."""
    found: dict[int, np.ndarray] = {}
    for path, some in lists.items():
        mask = found.get(id(some))
        if mask is None:
            mask = found[id(some)] = np.zeros(hosts, dtype=bool)
            mask[some] = True
        mask[own[path]] = True
    return {path: found[id(some)] for path, some in lists.items()}
