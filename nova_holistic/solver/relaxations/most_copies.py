# SPDX-License-Identifier: Apache-2.0
"""A number of copies of a group that no cloud exceeds, found by counting.

All numbers are whole, so rounding cannot make the bound wrong. Each argument
counts some members and all hosts that can take any of them:

- how many members of a class the hosts take, where a policy may limit the
  number of members of one copy on a host;
- how much of a resource is free on the hosts that take a class, and how much
  of it those classes ask for that no other host takes;
- how many domains there are, if each copy closes one to all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Group, Scope
from nova_holistic.model.member import Member
from nova_holistic.model.requirements import Requirements
from nova_holistic.model.snapshot import Snapshot
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.tolerances import UNLIMITED_MEMBERS


@dataclass(frozen=True, slots=True)
class _Class:
    """Members of one copy that ask for the same under the same policies.

    :ivar open: whether each host can take one of them; bool, one per host
    :ivar most: largest number of one copy on a host; None for any number
    """

    wanted: Requirements
    members: int
    open: np.ndarray
    most: int | None


def most_copies(group: Group, snapshot: Snapshot) -> int | None:
    """More copies do not fit; None if nothing limits their number.

    :param group: with its resources resolved
    """
    table = HostTable.of(snapshot)
    classes = _classes(group, table)
    found = [*_by_members(classes, table), *_by_resources(classes, table),
             *_by_domains(group, table)]
    return min(found, default=None)


def _classes(group: Group, table: HostTable) -> list[_Class]:
    eligibility = Eligibility(table)
    scopes = [scope for scope in group.scopes()
              if any(rule.hard for rule in scope.group.rules)]
    admitted = [_admitted(scope, table) for scope in scopes]
    alike: dict[tuple, list[Member]] = {}
    for member in group.all_members():
        key = member.requirements, tuple(
            number for number, scope in enumerate(scopes)
            if scope.holds(member))
        alike.setdefault(key, []).append(member)
    found = []
    for (wanted, numbers), members in alike.items():
        # A number of 1 says where there is room for one member.
        open_to = eligibility.room(wanted, 1) > 0
        for number in numbers:
            open_to = open_to & admitted[number]
        limits = [most for number in numbers
                  for rule in scopes[number].group.policies
                  if (most := rule.most_on_a_host(scopes[number]))
                  is not None]
        found.append(_Class(wanted, len(members), open_to,
                            min(limits, default=None)))
    return found


def _admitted(scope: Scope, table: HostTable) -> np.ndarray:
    """Hosts on which members of the scope may be at all."""
    return np.array([all(policy.admits(host)
                         for policy in scope.group.policies)
                     for host in table.hosts], dtype=bool)


def _by_members(classes: list[_Class], table: HostTable) -> Iterator[int]:
    for each in classes:
        room = np.full(len(table), UNLIMITED_MEMBERS)
        for name, amount in demands(each.wanted):
            room = np.minimum(
                room, np.maximum(table.amounts(name).free, 0) // amount)
        room = room[each.open]
        if each.most is None:
            if not (room >= UNLIMITED_MEMBERS).any():
                yield int(room.sum()) // each.members
        else:
            yield _largest(room, each.members, each.most)


def _largest(room: np.ndarray, members: int, most: int) -> int:
    """The largest number of copies of which all members have room.

    :param most: largest number of members of a copy on one host
    """
    low, high = 0, int(room.sum()) // members
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(room, most * middle).sum() >= members * middle:
            low = middle
        else:
            high = middle - 1
    return low


def _by_resources(classes: list[_Class], table: HostTable) -> Iterator[int]:
    everywhere = np.zeros(len(table), dtype=bool)
    for each in classes:
        everywhere = everywhere | each.open
    for hosts in (everywhere, *(each.open for each in classes)):
        asked: dict[str, int] = {}
        for each in classes:
            if not (each.open & ~hosts).any():
                for name, amount in demands(each.wanted):
                    asked[name] = asked.get(name, 0) + amount * each.members
        for name, amount in asked.items():
            free = np.maximum(table.amounts(name).free[hosts], 0)
            yield int(free.sum()) // amount


def _by_domains(group: Group, table: HostTable) -> Iterator[int]:
    for scope in group.scopes():
        for policy in scope.group.policies:
            if policy.closes is not None and scope.members:
                yield len(table.division(policy.closes).domains)
