# SPDX-License-Identifier: Apache-2.0
"""The policies whose numbers of members and domains a program counts, and the
classes of members that these policies distinguish."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.decomposition.fewest_hosts import within_domains
from nova_holistic.solver.evaluation.row_shapes import Disjoint, Shape, shapes
from nova_holistic.solver.host_counts.limited_traffic import (
    limited_traffic, LimitedTraffic)
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.kinds import Kinds, limited_scopes
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import Rules, scoped_policies

Paths = frozenset[str]
"""Paths of the members of one scope."""


@dataclass(frozen=True, slots=True)
class HostLimit:
    """A host holds at most ``most`` of these members."""

    paths: Paths
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class CountedMembers:
    """Members of one kind that are in the same scopes form a class.

    :ivar kinds: the kinds of all counted members
    :ivar shapes: conditions of hard policies on domains
    :ivar limits: limits of hosts
    :ivar traffic: members whose traffic uplinks limit
    :ivar kind: [class]
    :ivar numbers: [class]: number of members
    """

    kinds: Kinds
    rules: Rules
    shapes: Sequence[Shape]
    limits: Sequence[HostLimit]
    traffic: Sequence[LimitedTraffic]
    kind: np.ndarray
    numbers: np.ndarray
    _inside: dict[Paths, np.ndarray]

    @classmethod
    def of(cls, kinds: Kinds, group: Group,
           in_time: InTime) -> 'CountedMembers':
        """Count the members of the kinds.

        Policies that apply to other members as well are omitted. The shapes
        of the others are necessary conditions of every plan of the group,
        because they refer only to members of their scope.

        :param group: the whole group, which may have further members
        """
        of_member = kinds.kind_of
        known = frozenset(of_member)
        rules = _rules(kinds, group, in_time)
        rules.encode(within_domains([
            each for each in scoped_policies(group)
            if _is_countable(each, known)], rules.table))
        found = [each for each in shapes(rules, in_time)
                 if each.level and not rules.table.is_subset(each.level)
                 and all(_paths(rules, number) <= known
                         for number in _scopes_of(each))]
        host_limits = _host_limits(group, known)
        traffic = [*limited_traffic(group, kinds.table, known)]
        scopes = {_paths(rules, number) for each in found
                  for number in _scopes_of(each)}
        scopes |= {each.paths for each in (*host_limits, *traffic)}
        ordered = sorted(scopes, key=sorted)
        classes: dict[tuple, list[str]] = {}
        for path, kind in of_member.items():
            classes.setdefault((kind, *(
                n for n, each in enumerate(ordered) if path in each)),
                []).append(path)
        return cls(
            kinds, rules, found, host_limits, traffic,
            np.array([key[0] for key in classes], dtype=np.int64),
            np.array([len(each) for each in classes.values()]),
            {each: np.array([c for c, key in enumerate(classes)
                             if n in key[1:]], dtype=np.int64)
             for n, each in enumerate(ordered)})

    @property
    def levels(self) -> list[str]:
        """Levels of the shapes and of limited uplinks."""
        return list(dict.fromkeys(
            each.level for each in (*self.shapes, *self.traffic)))

    def paths(self, scope: int) -> Paths:
        """The members of a scope of the shapes."""
        return _paths(self.rules, scope)

    def inside(self, paths: Paths) -> np.ndarray:
        """The classes of the members of a scope or of a limit."""
        return self._inside[paths]


def _scopes_of(shape: Shape) -> tuple[int, ...]:
    if isinstance(shape, Disjoint):
        return shape.scope, shape.other
    return (shape.scope,)


def _paths(rules: Rules, scope: int) -> Paths:
    return frozenset(m.path for m in rules.scopes[scope].members)


def _rules(kinds: Kinds, group: Group, in_time: InTime) -> Rules:
    # Members that are not counted may be on any host.
    masks = dict.fromkeys((m.path for m in group.all_members()),
                          np.ones(len(kinds.table), dtype=bool))
    for kind, mask in zip(kinds.kinds, kinds.room > 0):
        masks.update(dict.fromkeys((m.path for m in kind.members), mask))
    return Rules(kinds.table.part(None),
                 (kinds.room > 0).any(axis=0), next(group.scopes()), masks,
                 in_time)


def _is_countable(each: ScopedPolicy, known: Collection[str]) -> bool:
    """Whether the policy is a hard policy on domains of counted members."""
    policy = each.policy
    if isinstance(policy, Relationship) and policy.traffic_mbps:
        return False
    return bool(
        policy.hard and policy.levels and not policy.closes and each.members
        and all(m.path in known for m in each.scope.members)
        and HOST not in policy.levels)


def _host_limits(group: Group, known: Collection[str]) -> list[HostLimit]:
    """The limits of hosts, for the counted members of each scope."""
    found: dict[Paths, int] = {}
    for most, scope in limited_scopes(group):
        paths = frozenset(m.path for m in scope.members if m.path in known)
        if most < len(paths):
            found[paths] = min(most, found.get(paths, most))
    return [HostLimit(*each) for each in found.items()]
