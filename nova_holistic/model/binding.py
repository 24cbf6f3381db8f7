# SPDX-License-Identifier: Apache-2.0
"""Binds a group to a snapshot: flavors and images become resources and traits,
and the levels of policies are checked."""

from collections.abc import Mapping
from dataclasses import replace

from nova_holistic import exceptions
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.suggestion import did_you_mean
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.owned_devices import with_owned_devices
from nova_holistic.model.nova.requested_traits import requested_traits
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.model.storage_pools import (
    has_volumes, with_volume, without_pools)


def bind(group: Group, snapshot: Snapshot, suggest: bool = False) -> Group:
    """The group with every flavor and image resolved and every level known.

    :param suggest: whether the error for an unknown flavor or image may name
        a similar one: on a live cloud that may be one of another project
    :raises InvalidDocument: a flavor, image or level that the snapshot does
        not have, or a flavor or image that cannot be planned; with all
        mistakes
    """
    mistakes = exceptions.Mistakes()
    for scope in group.scopes():
        for policy in scope.group.rules:
            for level in policy.levels:
                # Usually it is in the tree: then no host is read.
                if level not in snapshot.levels and (
                        level not in (known := snapshot.all_levels())):
                    mistakes.add(exceptions.InvalidDocument(
                        f'{policy.place}.level', f'unknown level {level!r}'
                        f'{did_you_mean(level, known)}; '
                        f'known are {", ".join(sorted(known))}'))
    bound = _resolve(group, snapshot, mistakes, suggest)
    if has_volumes(group):
        bound = _separated(bound, snapshot, mistakes)
    mistakes.must_be_none()
    return bound


def _resolve(group: Group, snapshot: Snapshot,
             mistakes: exceptions.Mistakes, suggest: bool) -> Group:
    members = []
    for member in group.members:
        with mistakes.collected():
            members.append(_resolved(member, snapshot, suggest))
    return replace(
        group, members=tuple(members),
        groups=tuple(_resolve(g, snapshot, mistakes, suggest)
                     for g in group.groups))


def _separated(group: Group, snapshot: Snapshot,
               mistakes: exceptions.Mistakes) -> Group:
    """The group whose volumes require storage pools, and whose servers do not
    accept them."""
    members = []
    for member in group.members:
        needs = member.requirements
        with mistakes.collected():
            members.append(replace(member, requirements=(
                with_volume(needs, snapshot, member.place) if needs.volume
                else without_pools(needs))))
    return replace(group, members=tuple(members), groups=tuple(
        _separated(each, snapshot, mistakes) for each in group.groups))


def _resolved(description: MemberDescription,
              snapshot: Snapshot, suggest: bool) -> MemberDescription:
    needs = description.requirements
    flavor = _flavor(description, snapshot.flavors, suggest)
    image = _image(description, snapshot.images, suggest)
    if flavor is not None:
        needs = _with_flavor(needs, with_owned_devices(flavor, snapshot),
                             description.place)
    if image is not None:
        reason = image.unplannable_reason(flavor, needs.boot_from_volume)
        if reason:
            raise exceptions.InvalidDocument(
                f'{description.place}.image', f'the image {reason}')
    if flavor is not None or image is not None:
        traits = requested_traits(flavor, image)
        needs = replace(
            needs, required_traits=needs.required_traits | traits.required,
            forbidden_traits=needs.forbidden_traits | traits.forbidden)
    if needs.counted:
        needs = replace(needs, resources=FrozenMapping(
            {**needs.resources, **needs.counted}))
    return replace(description, requirements=needs)


def _with_flavor(needs: Requirements, flavor: Flavor,
                 place: str) -> Requirements:
    resources = flavor.resources
    if needs.boot_from_volume and flavor.root_gb:
        disk_gb = resources['DISK_GB'] - flavor.root_gb
        resources = FrozenMapping({
            name: disk_gb if name == 'DISK_GB' else amount
            for name, amount in resources.items()
            if name != 'DISK_GB' or disk_gb})
    return replace(
        needs, resources=resources,
        request_groups=_all_groups(needs, flavor, place),
        group_policy=flavor.group_policy)


def _all_groups(needs: Requirements, flavor: Flavor,
                place: str) -> tuple[RequestGroup, ...]:
    """The groups of the flavor, and those of the member, such as the
    requests of its ports.

    :raises InvalidDocument: both have a group of this suffix
    """
    own = {each.suffix for each in flavor.request_groups}
    for each in needs.request_groups:
        if each.suffix in own and each not in flavor.request_groups:
            raise exceptions.InvalidDocument(
                f'{place}.request_groups.{each.suffix}',
                f'flavor {flavor.name!r} has another group of this name')
    return (*flavor.request_groups, *(
        each for each in needs.request_groups if each.suffix not in own))


def _image(description: MemberDescription,
           images: Mapping[str, Image], suggest: bool) -> Image | None:
    named = description.requirements.image
    if not isinstance(named, str):
        return named
    if not images:
        # An inventory document need not describe images.
        return None
    if named not in images:
        raise exceptions.InvalidDocument(
            f'{description.place}.image', f'unknown image {named!r}'
            + (did_you_mean(named, images) if suggest else ''))
    return images[named]


def _flavor(description: MemberDescription,
            flavors: Mapping[str, Flavor], suggest: bool) -> Flavor | None:
    needs = description.requirements
    if needs.flavor is None:
        return None
    flavor = flavors.get(needs.flavor)
    if flavor is None:
        hint = did_you_mean(needs.flavor, flavors) if suggest else ''
        if not flavors:
            hint = '; the inventory has no flavors'
        raise exceptions.InvalidDocument(
            f'{description.place}.flavor',
            f'unknown flavor {needs.flavor!r}{hint}')
    if flavor.unplannable:
        raise exceptions.InvalidDocument(
            f'{description.place}.flavor',
            f'flavor {needs.flavor!r} cannot be planned: '
            f'{flavor.unplannable}')
    return flavor
