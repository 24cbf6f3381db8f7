# SPDX-License-Identifier: Apache-2.0
"""The hard rules of a group, and the group without some of them.

A preference does not affect whether a group fits. Therefore, the group is
solved without the rules that become preferences.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, join_path
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.policy import Policy
from nova_holistic.model.relaxations import Rule
from nova_holistic.solver.problem.hard_forms import only_rules

Part = TypeVar('Part', Policy, MemberDescription)

_FREE = Requirements()

_FACETS = FrozenMapping({
    'availability_zone': ('availability_zone',),
    'aggregates': ('aggregates',),
    'location': ('location',),
    'traits': ('required_traits', 'forbidden_traits')})
"""Requirements that a policy can express as a preference: the key in the group
document to the fields of ``Requirements``."""


def rules(group: Group, path: str = '') -> Iterator[Rule]:
    """Every hard policy, relationship and requirement that could be a
    preference, in document order."""
    for policy in group.policies:
        if policy.hard:
            yield Rule(policy.place, path, str(policy.summary))
    for description in group.members:
        for key, fields in _FACETS.items():
            if any(getattr(description.requirements, name)
                   != getattr(_FREE, name) for name in fields):
                yield Rule(f'{description.place}.{key}',
                           join_path(path, description.name), key)
    for nested in group.groups:
        yield from rules(nested, join_path(path, nested.name))
    for relationship in group.relationships:
        if relationship.hard:
            yield Rule(relationship.place, path, str(relationship.summary))


def without(group: Group, dropped: Collection[Rule]) -> Group:
    """The group without these hard rules, identified by their positions."""
    positions = frozenset(rule.position for rule in dropped)
    return _free_members(only_rules(
        group, lambda each: not each.hard or each.place not in positions),
        positions)


def _free_members(group: Group, positions: frozenset[str]) -> Group:
    return replace(
        group, members=tuple(_free(each, positions) for each in group.members),
        groups=tuple(_free_members(each, positions) for each in group.groups))


def _free(description: MemberDescription,
          positions: frozenset[str]) -> MemberDescription:
    fields = {name: getattr(_FREE, name) for key, names in _FACETS.items()
              if f'{description.place}.{key}' in positions for name in names}
    return replace(description, requirements=replace(
        description.requirements, **fields)) if fields else description


def with_positions(group: Group, place: str = '') -> Group:
    """The group in which every part without a position in a document gets the
    position that it has in a group document."""
    prefix = f'{place}.' if place else ''

    def named(parts: Sequence[Part], key: str) -> tuple[Part, ...]:
        return tuple(each if each.place else replace(
            each, place=f'{prefix}{key}[{number}]')
            for number, each in enumerate(parts))

    return replace(
        group, members=named(group.members, 'members'),
        policies=named(group.policies, 'policies'),
        relationships=named(group.relationships, 'relationships'),
        groups=tuple(
            with_positions(each, each.place or f'{prefix}groups[{number}]')
            for number, each in enumerate(group.groups)))
