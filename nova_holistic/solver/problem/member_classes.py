# SPDX-License-Identifier: Apache-2.0
"""Classes of members that no policy and no requirement distinguishes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.rules import Rules


@dataclass(frozen=True, slots=True)
class MemberClass:
    """Members that are interchangeable for all rules.

    :ivar requirements: requirements of each member, without the flavor name
    :ivar scopes: indexes of the scopes of the rules that contain the members
    :ivar members: the members, in document order
    :ivar demands: requested resource classes and amounts
    """

    requirements: Requirements
    scopes: frozenset[int]
    members: tuple[Member, ...]
    demands: tuple[tuple[str, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'demands', (*demands(self.requirements),))


def without_flavors(members: Sequence[Member]) -> dict[str, Requirements]:
    """Member path to its requirements, without the flavor name."""
    # Servers of one description share an object.
    known: dict[int, Requirements] = {}
    for member in members:
        requirements = member.requirements
        if id(requirements) not in known:
            known[id(requirements)] = replace(requirements, flavor=None)
    return {m.path: known[id(m.requirements)] for m in members}


def classes_of(members: Sequence[Member], kinds: Mapping[str, Requirements],
               rules: Rules, in_time: InTime) -> tuple[MemberClass, ...]:
    """The classes, in the order of their first members."""
    scopes: dict[str, set[int]] = {member.path: set() for member in members}
    for number, scope in enumerate(rules.scopes):
        in_time()
        for member in scope.members:
            if member.path in scopes:
                scopes[member.path].add(number)
    found: dict[tuple, list[Member]] = {}
    for member in members:
        key = (kinds[member.path], frozenset(scopes[member.path]))
        found.setdefault(key, []).append(member)
    return tuple(MemberClass(kind, numbers, tuple(alike))
                 for (kind, numbers), alike in found.items())
