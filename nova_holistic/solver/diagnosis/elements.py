# SPDX-License-Identifier: Apache-2.0
"""Elements: the smallest parts of a group that can be removed. These are each
hard policy, and each requirement of each member description.

A group that keeps only some of its elements is encoded and solved like any
other group. Therefore removing an element has the same effect as removing its
line from the document.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
import enum

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, join_path
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.storage_pools import POOL
from nova_holistic.solver.problem.deadline import InTime, no_limit


class Facet(enum.Enum):
    """Kinds of elements; the values describe hosts in messages."""

    POLICY = 'policy'
    ZONE = 'in availability zone'
    LOCATION = 'in location'
    AGGREGATE = 'in aggregate'
    TRAIT = 'with trait'
    NO_TRAIT = 'without trait'
    RESOURCE = 'with'


@dataclass(frozen=True, slots=True)
class Element:
    """One policy or one requirement of a group.

    :ivar at: path of the group that carries the policy, or of the description
    :ivar name: zone, trait or other name; for a policy, its index among the
        rules of its group, as a string; for a resource, its class
    """

    facet: Facet
    at: str
    name: str

    @property
    def is_policy(self) -> bool:
        return self.facet is Facet.POLICY


def elements(group: Group) -> Iterator[Element]:
    """Elements of the whole group: first policies, then requirements, both in
    document order."""
    scopes = list(group.scopes())
    for scope in scopes:
        for i, policy in enumerate(scope.group.rules):
            if policy.hard:
                yield Element(Facet.POLICY, scope.path, str(i))
    for scope in scopes:
        for description in scope.group.members:
            path = join_path(scope.path, description.name)
            for facet, name in facets(description.requirements):
                yield Element(facet, path, name)


def keeping(group: Group, kept: Collection[Element],
            in_time: InTime = no_limit) -> Group:
    """The group with the same members, and only these elements."""
    return _keeping(group, frozenset(kept), '', in_time)


def _keeping(group: Group, kept: frozenset[Element], path: str,
             in_time: InTime) -> Group:
    rules = [rule if Element(Facet.POLICY, path, str(i)) in kept else None
             for i, rule in enumerate(group.rules)]
    policies = rules[:len(group.policies)]
    relationships = rules[len(group.policies):]
    return replace(
        group, policies=tuple(p for p in policies if p),
        relationships=tuple(r for r in relationships if r),
        members=tuple(_description(m, kept, join_path(path, m.name), in_time)
                      for m in group.members),
        groups=tuple(_keeping(g, kept, join_path(path, g.name), in_time)
                     for g in group.groups))


def _description(description: MemberDescription, kept: frozenset[Element],
                 path: str, in_time: InTime) -> MemberDescription:
    in_time()
    requirements = description.requirements

    def has(facet: Facet, name: str) -> bool:
        return Element(facet, path, name) in kept

    def those(facet: Facet, names: Collection[str]) -> frozenset[str]:
        # Whether a member is a volume is not a requirement.
        return frozenset(name for name in names
                         if name == POOL or has(facet, name))

    zone, location = requirements.availability_zone, requirements.location
    return replace(description, requirements=Requirements(
        resources=FrozenMapping({
            name: amount for name, amount in requirements.resources.items()
            if has(Facet.RESOURCE, name)}),
        required_traits=those(Facet.TRAIT, requirements.required_traits),
        forbidden_traits=those(Facet.NO_TRAIT, requirements.forbidden_traits),
        availability_zone=(
            zone if zone and has(Facet.ZONE, zone) else None),
        aggregates=those(Facet.AGGREGATE, requirements.aggregates),
        location=location if has(Facet.LOCATION, '/'.join(location)) else ()))


def facets(requirements: Requirements) -> Iterator[tuple[Facet, str]]:
    """Yield each requirement: its facet and its name."""
    if requirements.availability_zone is not None:
        yield Facet.ZONE, requirements.availability_zone
    if requirements.location:
        yield Facet.LOCATION, '/'.join(requirements.location)
    for facet, names in ((Facet.AGGREGATE, requirements.aggregates),
                         (Facet.TRAIT, requirements.required_traits),
                         (Facet.NO_TRAIT, requirements.forbidden_traits)):
        for name in sorted(names):
            if name != POOL:
                yield facet, name
    for name, amount in sorted(requirements.resources.items()):
        if amount:
            yield Facet.RESOURCE, name
