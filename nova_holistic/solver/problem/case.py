# SPDX-License-Identifier: Apache-2.0
"""The problem for the solver: hosts, member classes, room, and rules."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from pulp import LpConstraintGE

from nova_holistic import exceptions
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.problem.deadline import InTime, no_limit
from nova_holistic.solver.problem.eligibility import amounts_of, Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.kind_room import (
    KindRoom, require_size, width)
from nova_holistic.solver.problem.member_classes import (
    classes_of, MemberClass, without_flavors)
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.rows import CountLimit, Kind, ScopedPolicy
from nova_holistic.solver.problem.rules import any_of, Rules, scoped_policies
from nova_holistic.solver.problem.subproblem import (
    EVERYTHING, Freed, Subproblem)

Counts = tuple[dict[int, int], ...]
"""For each class, in the order of ``Case.classes``: host index to the number
of members of the class on this host."""

Place = tuple[int, int]
"""A class, and the index of the host of one of its members."""


def places(counts: Counts) -> list[Place]:
    """The place of each member."""
    return [(c, h) for c, host_counts in enumerate(counts)
            for h, n in host_counts.items() for _ in range(n)]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The problem of one group and one snapshot, ready for the solver.

    :ivar members: all members of the group, in document order
    :ivar placed: member path to host index, of each member that stays on its
        host
    :ivar room: [class, host]: maximum number of members of the class that the
        host takes
    :ivar policies: policies that depend on members that may move
    :ivar checked: policies without rows, for construction without a program:
        only their checks detect violations
    """

    group: Group
    snapshot: Snapshot
    table: HostTable
    members: tuple[Member, ...]
    placed: Mapping[str, int]
    rules: Rules
    classes: tuple[MemberClass, ...]
    room: np.ndarray
    policies: tuple[ScopedPolicy, ...]
    checked: tuple[ScopedPolicy, ...] = ()

    @classmethod
    def of(cls, group: Group, snapshot: Snapshot, placed: Mapping[str, str],
           in_time: InTime = no_limit, part: Subproblem = EVERYTHING
           ) -> 'Case':
        """Compute the classes and the room, and encode the policies.

        :param placed: path to host name of the members that stay
        :raises InvalidDocument: if a placed member or its host is unknown
        :raises TooLarge: if the case would need too much memory
        """
        table = part.table or HostTable.of(snapshot)
        members = group.all_members()
        at = placed_at(members, table, placed)
        waiting = [m for m in members if m.path not in at]
        kinds = without_flavors(waiting)
        room = KindRoom(Eligibility(table), Counter(kinds.values()), in_time)
        possible = any_of(room.some.values(), len(table))
        possible[[*at.values()]] = True
        rules = Rules(table, possible, next(group.scopes()),
                      reach(members, {
                          path: room.some[kind]
                          for path, kind in kinds.items()}, at, len(table)),
                      in_time)
        policies = tuple(scoped_policies(group))
        touched = policies if part.freed is None else part.freed.policies
        checked = tuple(each for each in touched if is_costly(
            each, snapshot)) if part.constructs else ()
        _add_rows(rules, policies, touched, checked, part.freed)
        classes = classes_of(waiting, kinds, rules, in_time)
        return cls(group, snapshot, table, members, at, rules, classes,
                   _room(classes, room, len(table), in_time), touched,
                   checked)

    @property
    def class_of(self) -> dict[str, int]:
        """Path of each member without a host to the index of its class."""
        return {m.path: c for c, each in enumerate(self.classes)
                for m in each.members}

    def requested(self, names: Sequence[str]) -> np.ndarray:
        """[class, resource class]: amount that one member requests."""
        return amounts_of((each.demands for each in self.classes), names)

    def under(self, policies: Sequence[ScopedPolicy]) -> 'Case':
        """This case with only these policies, and without the costs of
        preferences."""
        return replace(self, rules=self.rules.only(policies),
                       policies=tuple(policies))

    def open_room(self, in_time: InTime = no_limit) -> np.ndarray:
        """[class, host]: ``room``, reduced by the rows and limits that exclude
        a class from a host independently of other members."""
        room = self.room.copy()
        for row in self.rules.rows:
            if len(row.terms) != 1 or row.limit or (
                    row.sense == LpConstraintGE):
                continue
            atom, coefficient = row.terms[0]
            if atom.kind is not Kind.FREE and coefficient > 0:
                hosts = self.table.hosts_of(atom.level, atom.domain)
                room[np.ix_(self.classes_in(atom.scope), hosts)] = 0
        for each in self.rules.limits:
            left = self.left_of(each)[self.table.division(each.level).of_host]
            for c in self.classes_in(each.scope):
                in_time()
                np.minimum(room[c], left, out=room[c])
        return room

    def left_of(self, limit: CountLimit) -> np.ndarray:
        """[domain]: how many members the limit allows in addition to those
        that stay; the last element is for hosts in no domain."""
        left = limit.most - self.table.division(limit.level).counts(
            self.placed_in(limit.scope))
        left[-1] = np.iinfo(self.room.dtype).max
        return np.maximum(left, 0)

    def placed_in(self, scope: int) -> list[int]:
        """Host index of each of the scope's members that stay."""
        return [self.placed[m.path] for m in self.rules.scopes[scope].members
                if m.path in self.placed]

    def classes_in(self, scope: int) -> list[int]:
        """Indexes of the classes whose members belong to the scope."""
        return [c for c, each in enumerate(self.classes)
                if scope in each.scopes]

    def fits(self, counts: Counts) -> bool:
        """Whether each member has a host, and the counts exceed neither the
        room nor the free amounts of a host. The arithmetic is exact."""
        for c, (each, host_counts) in enumerate(zip(self.classes, counts)):
            if sum(host_counts.values()) != len(each.members) or any(
                    n < 0 or n > self.room[c, h]
                    for h, n in host_counts.items()):
                return False
        return not any(self.overfull(counts))

    def overfull(self, counts: Counts) -> Iterator[tuple[int, str]]:
        """Yield each host index and resource class of which the members
        request more than the free amount."""
        taken: Counter[tuple[int, str]] = Counter()
        for each, host_counts in zip(self.classes, counts):
            for name, amount in each.demands:
                for host, number in host_counts.items():
                    taken[host, name] += number * amount
        for (host, name), amount in taken.items():
            if amount > int(self.table.amounts(name).free[host]):
                yield host, name

    def placement(self, counts: Counts) -> dict[str, Host]:
        """Member path to host, in document order, including placed members.

        The members of a class are interchangeable: the first members get the
        hosts whose names come first.
        """
        where = {path: self.table.hosts[h] for path, h in self.placed.items()}
        for each, host_counts in zip(self.classes, counts):
            hosts = sorted((self.table.hosts[h] for h, n in host_counts.items()
                            for _ in range(n)), key=lambda host: host.name)
            where.update((member.path, host)
                         for member, host in zip(each.members, hosts))
        return {m.path: where[m.path] for m in self.members
                if m.path in where}

    def preference_cost(self, placement: Mapping[str, Host]) -> Fraction:
        """The exact sum of the violations of each preference times its weight.
        The checks of the policies count the violations."""
        return preference_cost(self.policies, placement, self.snapshot)

    def is_plan(self, counts: Counts) -> bool:
        """Whether the counts fit and satisfy the hard policies."""
        return self.fits(counts) and not self.violates_policy(
            self.placement(counts))

    def violates_policy(self, placement: Mapping[str, Host]) -> bool:
        """Whether the placement violates a hard policy."""
        return any(p.policy.check(p.scope, placement, self.snapshot).count
                   for p in self.policies if p.policy.hard)


def _add_rows(rules: Rules, policies: Sequence[ScopedPolicy],
              touched: Sequence[ScopedPolicy], checked: Sequence[ScopedPolicy],
              freed: Freed | None) -> None:
    """Add the rows of the policies that depend on members that may move.

    :param policies: all policies of the group
    :param touched: the policies that depend on members that may move
    :param checked: the policies of ``touched`` that get no rows
    """
    if freed is None or freed.rows is None:
        without_rows = {id(each) for each in checked}
        rules.encode([each for each in touched
                      if id(each) not in without_rows])
        _separate_sides(policies, rules)
    else:
        rules.adopt(freed.whole, touched, freed.rows)
    if freed is not None:
        rules.number(freed.scope)


def _room(classes: Sequence[MemberClass], kinds: KindRoom, hosts: int,
          in_time: InTime) -> np.ndarray:
    most = max((len(each.members) for each in classes), default=0)
    require_size(len(classes) * hosts * np.dtype(width(most)).itemsize)
    room = np.zeros((len(classes), hosts), dtype=width(most))
    for row, each in zip(room, classes):
        in_time()
        # A host may have room for more members than the class has.
        row[:] = np.minimum(kinds.room[each.requirements].astype(
            np.int64), len(each.members))
    return room


def placed_at(members: tuple[Member, ...], table: HostTable,
              placed: Mapping[str, str]) -> dict[str, int]:
    """Member path to host index, of each member that stays.

    :raises InvalidDocument: if a member or its host is unknown
    """
    paths = {member.path for member in members}
    for path, host in placed.items():
        if path not in paths:
            raise exceptions.InvalidDocument(
                f'placed[{path}]', 'the group has no such member')
        if host not in table.index:
            raise exceptions.InvalidDocument(
                f'placed[{path}]',
                format_message("unknown host '{:name}'", host))
    return {path: table.index[host] for path, host in placed.items()}


def reach(members: Sequence[Member], masks: Mapping[str, np.ndarray],
          placed: Mapping[str, int], hosts: int,
          also: Mapping[str, Collection[int]] = FrozenMapping(),
          ) -> dict[str, np.ndarray]:
    """Member path to [host]: whether the host holds the member or can take it.

    :param masks: for members without a host: path to [host]: whether the host
        can take the member
    :param also: path to indexes of further hosts that the member may get
    """
    at = {h: np.arange(hosts) == h for h in set(placed.values())}
    found = {m.path: at[placed[m.path]] if m.path in placed
             else masks[m.path] for m in members}
    for path, some in also.items():
        found[path] = found[path] | np.isin(np.arange(hosts), list(some))
    return found


def is_costly(each: ScopedPolicy, snapshot: Snapshot) -> bool:
    """Whether the policy is a relationship with traffic that needs several
    variables per domain. Encoding such relationships takes most of the build
    time. Without links of limited capacity, a hard policy has few rows, and
    evaluating them is much faster than its checks."""
    policy = each.policy
    return isinstance(policy, Relationship) and bool(
        policy.traffic_mbps) and (
            policy.monotone and bool(snapshot.links) if policy.hard else True)


def _separate_sides(policies: Sequence[ScopedPolicy], rules: Rules) -> None:
    """Number the sides to which objectives may refer, before members become
    classes. An unknown side would have no members in a program."""
    for each in policies:
        if isinstance(each.policy, Relationship) and (
                each.policy.separates_sides):
            for side in each.policy.side_scopes(each.scope):
                rules.number(side)
