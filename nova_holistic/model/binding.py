# SPDX-License-Identifier: Apache-2.0
"""A group meets a snapshot: flavors become resources, levels are looked up."""

from collections.abc import Mapping
from dataclasses import replace

from nova_holistic import exceptions
from nova_holistic.model.flavor import Flavor
from nova_holistic.model.group import Group
from nova_holistic.model.member import MemberDescription
from nova_holistic.model.snapshot import Snapshot


def bind(group: Group, snapshot: Snapshot) -> Group:
    """The group with every flavor resolved and every level known.

    :raises InvalidDocument: a flavor or level that the snapshot does not have,
        or a flavor that cannot be planned
    """
    known = snapshot.all_levels()
    for scope in group.scopes():
        for policy in scope.group.rules:
            for level in policy.levels:
                if level not in known:
                    raise exceptions.InvalidDocument(
                        f'{policy.place}.level', f'unknown level {level!r}; '
                        f'known are {", ".join(sorted(known))}')
    return _resolve(group, snapshot.flavors)


def _resolve(group: Group, flavors: Mapping[str, Flavor]) -> Group:
    return replace(
        group,
        members=tuple(_with_flavor(m, flavors) for m in group.members),
        groups=tuple(_resolve(g, flavors) for g in group.groups))


def _with_flavor(description: MemberDescription,
                 flavors: Mapping[str, Flavor]) -> MemberDescription:
    wanted = description.requirements
    if wanted.flavor is None:
        return description
    flavor = flavors.get(wanted.flavor)
    if flavor is None:
        raise exceptions.InvalidDocument(
            f'{description.place}.flavor', f'unknown flavor {wanted.flavor!r}')
    if flavor.unplannable:
        raise exceptions.InvalidDocument(
            f'{description.place}.flavor',
            f'flavor {wanted.flavor!r} cannot be planned: '
            f'{flavor.unplannable}')
    return replace(description, requirements=replace(
        wanted, resources=flavor.resources,
        required_traits=wanted.required_traits | flavor.required_traits,
        forbidden_traits=wanted.forbidden_traits | flavor.forbidden_traits))
