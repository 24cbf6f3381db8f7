# SPDX-License-Identifier: Apache-2.0
"""The part of a group that Nova's server groups can express, and its order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member, MemberDescription
from nova_holistic.model.policy import Policy


@dataclass(frozen=True, slots=True)
class Tier:
    """Equal servers in one of Nova's server groups.

    :ivar path: path of their group in the document
    :ivar policy: policy of the server group in Nova
    :ivar other_policies: further policies of the group, which Nova cannot
        express
    """

    path: str
    policy: str
    members: tuple[Member, ...]
    other_policies: tuple[Policy, ...]

    @property
    def flavor(self) -> str:
        return self.members[0].requirements.flavor

    @property
    def zone(self) -> str:
        return self.members[0].requirements.availability_zone


def tiers(group: Group) -> tuple[Tier, ...]:
    """A tier for each member description, in the order of the document.

    :raises ValueError: a group with members does not have exactly one policy
        that Nova can express
    """
    return tuple(_tiers(group))


def _tiers(group: Group) -> Iterator[Tier]:
    for scope in group.scopes():
        prefix = f'{scope.path}/' if scope.path else ''
        policies = scope.group.policies
        for description in scope.group.members:
            policy, = filter(_is_nova_policy, policies)
            yield Tier(
                scope.path, policy.type, description.members(prefix),
                tuple(p for p in policies if not _is_nova_policy(p)))


def _is_nova_policy(policy: Policy) -> bool:
    return (policy.hard and tuple(policy.levels) == (HOST,)
            and policy.type in ('affinity', 'anti-affinity'))


def largest_first(
        chosen: Sequence[Tier], memory: dict[str, int]) -> tuple[Tier, ...]:
    """The tiers, those with the largest flavor first.

    :param memory: MEMORY_MB by flavor
    """
    return tuple(sorted(chosen, key=lambda tier: -memory[tier.flavor]))


def with_nova_policies(group: Group, paths: frozenset[str]) -> Group:
    """The group with the members of these paths, and with the policies that
    Nova can express."""
    return _part(group, paths, '')


def _part(group: Group, paths: frozenset[str], prefix: str) -> Group:
    return replace(
        group,
        policies=tuple(filter(_is_nova_policy, group.policies)),
        members=tuple(
            MemberDescription(name, description.requirements)
            for description in group.members
            for name in description.server_names() if prefix + name in paths),
        groups=tuple(_part(below, paths, f'{prefix}{below.name}/')
                     for below in group.groups))
