# SPDX-License-Identifier: Apache-2.0
"""An upper bound on the number of copies of a group on a cloud, by counting.

All numbers are integers, so rounding cannot invalidate the bound. Each
argument counts some members and all hosts that can take any of them:

- how much of a resource is free on all hosts, and how much of it one copy
  requests;
- how many domains exist, if each copy closes one domain to all others;
- how many copies of the members that one domain has to hold together fit into
  each domain, by the free amount of each resource in the domain;
- how many members of a class the hosts take, where a policy may limit the
  number of members of one copy on a host;
- how much of a resource is free on the hosts that take a class, and how much
  of it the classes that only these hosts take request.

The first three arguments take little time and are always used. The number of
the others grows with the square of the number of classes, so a time limit
applies to them. The bound is that of all arguments until then.
"""

import bisect
from collections.abc import Iterator
from collections import Counter, defaultdict
import contextlib
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.numerics.tolerances import UNLIMITED_MEMBERS
from nova_holistic.solver.problem.arrays import Division
from nova_holistic.solver.problem.deadline import InTime, no_limit, OutOfTime
from nova_holistic.solver.problem.eligibility import (
    demands, Eligibility, total_demand)
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kinds import limit_per_host


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


def most_copies(group: Group, snapshot: Snapshot,
                in_time: InTime = no_limit) -> int | None:
    """An upper bound on the number of copies; None if no argument limits it.

    :param group: a group with resolved resources
    :param in_time: a function that raises OutOfTime if the time limit is
        reached; then the bound is that of the arguments before
    """
    table = HostTable.of(snapshot)
    found = [*_by_all_hosts(group, table), *_by_domains(group, table),
             *_by_confined_members(group, table)]
    with contextlib.suppress(OutOfTime):
        classes = []
        for each in _classes(group, table, in_time):
            classes.append(each)
            found.extend(_by_members(each, table))
        found.extend(_by_resources(classes, table, in_time))
    return min(found, default=None)


def _classes(group: Group, table: HostTable,
             in_time: InTime) -> Iterator[_Class]:
    eligibility = Eligibility(table)
    scopes = [scope for scope in group.scopes()
              if any(rule.hard for rule in scope.group.rules)]
    alike: dict[tuple, list[Member]] = {}
    for member in group.all_members():
        key = member.requirements, tuple(
            number for number, scope in enumerate(scopes)
            if scope.holds(member))
        alike.setdefault(key, []).append(member)
    admitted: dict[int, np.ndarray] = {}
    for (requirements, numbers), members in alike.items():
        in_time()
        # With the count 1, the result shows which hosts can take a member.
        open_to = eligibility.room(requirements, 1) > 0
        for number in numbers:
            if number not in admitted:
                in_time()
                admitted[number] = _admitted(scopes[number], table)
            open_to = open_to & admitted[number]
        limits = [most for number in numbers
                  if (most := limit_per_host(scopes[number])) is not None]
        yield _Class(requirements, len(members), open_to,
                     min(limits, default=None))


def _admitted(scope: Scope, table: HostTable) -> np.ndarray:
    """[host]: whether all policies of the scope admit the host."""
    return np.array([all(policy.admits(host)
                         for policy in scope.group.policies)
                     for host in table.hosts], dtype=bool)


def _by_all_hosts(group: Group, table: HostTable) -> Iterator[int]:
    """The resources of all enabled hosts, and those of one copy."""
    for name, amount in total_demand(group.all_members()).items():
        yield _free(name, table, table.enabled) // amount


def _by_members(each: _Class, table: HostTable) -> Iterator[int]:
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
    return bisect.bisect_left(
        range(1, 1 + int(room.sum()) // members), True,
        key=lambda copies: np.minimum(
            room, most * copies).sum() < members * copies)


def _by_resources(classes: list[_Class], table: HostTable,
                  in_time: InTime) -> Iterator[int]:
    """The resources of the hosts that take a class, and of the hosts that take
    any class. Equal sets of hosts are considered once."""
    everywhere = np.zeros(len(table), dtype=bool)
    sets: dict[bytes, np.ndarray] = {}
    for each in classes:
        everywhere = everywhere | each.open
        sets.setdefault(each.open.tobytes(), each.open)
    inside: dict[bytes, Counter[str]] = defaultdict(Counter)
    for each in classes:
        for name, amount in demands(each.requirements):
            inside[each.open.tobytes()][name] += amount * each.members
    for hosts in (everywhere, *sets.values()):
        in_time()
        demand: Counter[str] = Counter()
        for key, requested in inside.items():
            if not (sets[key] & ~hosts).any():
                demand.update(requested)
        for name, amount in demand.items():
            yield _free(name, table, hosts) // amount


def _free(name: str, table: HostTable, hosts: np.ndarray) -> int:
    """The free amount of a resource class on the hosts of this mask."""
    return int(np.maximum(table.amounts(name).free[hosts], 0).sum())


def _by_domains(group: Group, table: HostTable) -> Iterator[int]:
    for scope in group.scopes():
        for policy in scope.group.policies:
            if policy.closes is not None and scope.members:
                yield len(table.division(policy.closes).domains)


def _by_confined_members(group: Group, table: HostTable) -> Iterator[int]:
    """The copies that each domain takes of the members that a policy confines
    to one domain. Hosts outside all domains are counted as one domain."""
    for scope in group.scopes():
        demand = total_demand(scope.members)
        levels = {level for policy in scope.group.policies
                  if (level := policy.confines) is not None}
        for level in levels if demand else ():
            division = table.division(level)
            yield int(np.min([
                _free_in_domains(name, table, division) // amount
                for name, amount in demand.items()], axis=0).sum())


def _free_in_domains(name: str, table: HostTable,
                     division: Division) -> np.ndarray:
    """[domain]: the free amount of a resource class on enabled hosts. The last
    element is that of hosts in no domain."""
    free = np.zeros(len(division.domains) + 1, dtype=np.int64)
    np.add.at(free, division.of_host, np.where(
        table.enabled, np.maximum(table.amounts(name).free, 0), 0))
    return free
