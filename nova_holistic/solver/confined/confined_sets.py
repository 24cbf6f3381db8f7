# SPDX-License-Identifier: Apache-2.0
"""Sets of members that a hard policy keeps in one domain of a level.

Sets of equal members form one type: the cost of a domain depends only on the
number of sets of each type inside the domain.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group, Scope
from nova_holistic.solver.limits.current import confined as limits
from nova_holistic.solver.problem.kinds import Kinds, limit_per_host


def confining_levels(group: Group) -> list[str]:
    """Levels above the host, each with policies that keep members of the group
    together in one domain. Levels with such policies for few of the members
    are omitted."""
    levels = [*dict.fromkeys(_levels(group))]
    least = limits().share * len(group.all_members()) if levels else 0
    return [level for level in levels if _confined(group, level) >= least]


def _levels(group: Group) -> Iterator[str]:
    yield from (policy.confines for policy in group.rules
                if policy.confines and policy.confines != HOST)
    for each in group.groups:
        yield from _levels(each)


def _confined(group: Group, level: str) -> int:
    """Number of members of the group that policies keep together."""
    if any(policy.confines == level for policy in group.rules):
        return len(group.all_members())
    return sum(_confined(each, level) for each in group.groups)


@dataclass(frozen=True, slots=True, eq=False)
class ConfinedSets:
    """The members without a host in sets, by type.

    Each member that no policy keeps together with others is one set.

    :ivar numbers: [type]: number of sets
    :ivar counts: [type, kind]: members of one set
    :ivar most: [type]: maximum number of members of one set on one host
    :ivar confined: [type]: whether a domain contains the members; a set of one
        member without such a policy may be on a host in no domain
    :ivar inside: [type, scope]: members of one set that belong to the scope
    :ivar paths: for each type, paths of the members of each set
    """

    numbers: np.ndarray
    counts: np.ndarray
    most: np.ndarray
    confined: np.ndarray
    inside: np.ndarray
    paths: tuple[tuple[tuple[str, ...], ...], ...]

    @classmethod
    def of(cls, kinds: Kinds, level: str,
           scopes: Sequence[Collection[str]]) -> 'ConfinedSets':
        """Divide the members without a host into sets.

        :param scopes: paths of the members of further scopes: all sets of one
            type contain the same number of members of each of them
        """
        kind_of = kinds.kind_of
        found: dict[tuple, list[tuple[str, ...]]] = {}
        for paths, most, confined in _sets(kinds, kind_of, level):
            counts = [0] * len(kinds.kinds)
            for path in paths:
                counts[kind_of[path]] += 1
            key = (confined, most, tuple(counts), tuple(
                sum(path in scope for path in paths) for scope in scopes))
            found.setdefault(key, []).append(paths)
        confined, most, counts, inside = zip(*found)
        return cls(
            np.array([len(each) for each in found.values()]),
            np.array(counts, dtype=np.int64), np.array(most),
            np.array(confined, dtype=bool),
            np.array(inside, dtype=np.int64).reshape(len(found), -1),
            tuple(map(tuple, found.values())))


def _sets(kinds: Kinds, paths: Collection[str],
          level: str) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Yield the members of each set, the maximum number of them on one host,
    and whether a policy keeps them in one domain.

    :param paths: the members without a host
    """
    left = dict.fromkeys(paths)
    for scope in kinds.group.scopes():
        members = tuple(member.path for member in scope.members)
        # An outer scope comes first and contains the inner ones. If a member
        # stays, the others are sets of one member, which is a relaxation.
        if members and any(policy.confines == level
                           for policy in scope.group.rules) and all(
                               path in left for path in members):
            for path in members:
                del left[path]
            yield members, most_of_scope(scope), True
    for path in left:
        yield (path,), 1, False


def most_of_scope(scope: Scope) -> int:
    """Maximum number of the scope's members on one host, from its own
    policies."""
    most = limit_per_host(scope)
    return len(scope.members) if most is None else min(
        most, len(scope.members))
