# SPDX-License-Identifier: Apache-2.0
"""An upper bound on the number of copies of a group on a cloud, by counting.

All numbers are integers, so rounding cannot invalidate the bound. Each
argument counts some members and all hosts that can take any of them:

- how many members of a class the hosts take, where a policy may limit the
  number of members of one copy on a host;
- how much of a resource is free on the hosts that take a class, and how much
  of it the classes that only these hosts take request;
- how many domains exist, if each copy closes one domain to all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.numerics.tolerances import UNLIMITED_MEMBERS
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable


@dataclass(frozen=True, slots=True)
class _Class:
    """Members of one copy with the same requirements and the same policies.

    :ivar open: whether each host can take one of these members
    :ivar most: maximum number of these members of one copy on a host; None
        means no limit
    """

    requirements: Requirements
    members: int
    open: np.ndarray
    most: int | None


def most_copies(group: Group, snapshot: Snapshot) -> int | None:
    """An upper bound on the number of copies; None if nothing limits it.

    :param group: a group with resolved resources
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
    for (requirements, numbers), members in alike.items():
        # With the count 1, the result shows which hosts can take a member.
        open_to = eligibility.room(requirements, 1) > 0
        for number in numbers:
            open_to = open_to & admitted[number]
        limits = [most for number in numbers
                  for rule in scopes[number].group.policies
                  if (most := rule.most_on_a_host(scopes[number]))
                  is not None]
        found.append(_Class(requirements, len(members), open_to,
                            min(limits, default=None)))
    return found


def _admitted(scope: Scope, table: HostTable) -> np.ndarray:
    """[host]: whether all policies of the scope admit the host."""
    return np.array([all(policy.admits(host)
                         for policy in scope.group.policies)
                     for host in table.hosts], dtype=bool)


def _by_members(classes: list[_Class], table: HostTable) -> Iterator[int]:
    for each in classes:
        room = np.full(len(table), UNLIMITED_MEMBERS)
        for name, amount in demands(each.requirements):
            room = np.minimum(
                room, np.maximum(table.amounts(name).free, 0) // amount)
        room = room[each.open]
        if each.most is None:
            if not (room >= UNLIMITED_MEMBERS).any():
                yield int(room.sum()) // each.members
        else:
            yield _largest(room, each.members, each.most)


def _largest(room: np.ndarray, members: int, most: int) -> int:
    """The largest number of copies whose members all have room.

    :param most: maximum number of members of a copy on one host
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
        demand: dict[str, int] = {}
        for each in classes:
            if not (each.open & ~hosts).any():
                for name, amount in demands(each.requirements):
                    demand[name] = demand.get(name, 0) + amount * each.members
        for name, amount in demand.items():
            free = np.maximum(table.amounts(name).free[hosts], 0)
            yield int(free.sum()) // amount


def _by_domains(group: Group, table: HostTable) -> Iterator[int]:
    for scope in group.scopes():
        for policy in scope.group.policies:
            if policy.closes is not None and scope.members:
                yield len(table.division(policy.closes).domains)
