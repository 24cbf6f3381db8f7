# SPDX-License-Identifier: Apache-2.0
"""Storage pools take volumes and no servers; all other hosts take servers and
no volumes.

A storage pool is a host with the trait ``POOL``, a trait for each of its
volume types, and one resource class, ``VOLUME_GB``. A volume requires these
traits and its size of this class. A server of the same group forbids ``POOL``.
Group and inventory documents cannot contain these names, because they are not
valid names of traits and resource classes in Placement.

The pools of a snapshot are apart from its hosts, so that they do not affect
groups without volumes.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from nova_holistic import exceptions
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.suggestion import did_you_mean

POOL = 'storage pool'
"""Trait of a storage pool."""

VOLUME_GB = 'VOLUME_GB'
"""Resource class of the size of volumes, in GiB."""

_TYPE = 'volume type '


def pool_traits(volume_types: Collection[str]) -> frozenset[str]:
    """Traits of a pool that offers these volume types."""
    return frozenset({POOL, *(_TYPE + name for name in volume_types)})


def volume_types(pool: Host) -> list[str]:
    """Names of the volume types that a pool offers, sorted."""
    return sorted(trait.removeprefix(_TYPE) for trait in pool.traits
                  if trait.startswith(_TYPE))


def has_volumes(group: Group) -> bool:
    """Whether a member description of the group, or of one nested in it, is a
    volume."""
    return next(volume_places(group), None) is not None


def volumes_of(group: Group) -> tuple[Member, ...]:
    """The volumes of a group and of the groups nested in it, in the order of
    the document."""
    return tuple(member for member in group.all_members()
                 if member.requirements.volume)


def servers_only(group: Group) -> Group:
    """The group without its volumes, for checks that know only the places of
    servers. Its member descriptions keep their positions.

    Policies that its servers alone may violate, for example a minimum number
    of domains, are left out where they apply to volumes.
    """
    if not has_volumes(group):
        return group
    return replace(
        group,
        policies=tuple(each for each in group.policies if each.monotone),
        relationships=tuple(
            each for each in group.relationships if each.monotone),
        members=tuple(
            replace(each, absent=frozenset(each.server_names()),
                    requirements=replace(each.requirements, volume=None))
            if each.requirements.volume else each for each in group.members),
        groups=tuple(map(servers_only, group.groups)))


def volume_places(group: Group) -> Iterator[str]:
    """Positions of the volumes of a group in its document."""
    for each in group.members:
        if each.requirements.volume:
            yield each.place
    for nested in group.groups:
        yield from volume_places(nested)


def snapshot_for(group: Group, snapshot: Snapshot) -> Snapshot:
    """The snapshot in which a group is planned: with storage pools among the
    hosts if the group has volumes."""
    return with_pools(snapshot) if has_volumes(group) else snapshot


def with_pools(snapshot: Snapshot) -> Snapshot:
    """The snapshot with its storage pools among its hosts."""
    if not snapshot.pools:
        return snapshot
    return snapshot.once('with pools', lambda: replace(
        snapshot, hosts=(*snapshot.hosts, *snapshot.pools), pools=()))


def with_volume(requirements: Requirements, snapshot: Snapshot,
                place: str) -> Requirements:
    """The requirements of a volume for its pool.

    :param snapshot: as ``snapshot_for`` returns it
    :param place: position of the member, for the error
    :raises InvalidDocument: no pool has its volume type
    """
    volume = requirements.volume
    if volume is None:
        return requirements
    traits = {POOL}
    if volume.volume_type is None and snapshot.default_volume_type is not None:
        traits.add(_TYPE + snapshot.default_volume_type)
    if volume.volume_type is not None:
        trait = _TYPE + volume.volume_type
        known = _known_types(snapshot)
        if trait not in known:
            raise exceptions.InvalidDocument(
                f'{place}.volume_type',
                f'unknown volume type {volume.volume_type!r}' + (did_you_mean(
                    volume.volume_type,
                    [each.removeprefix(_TYPE) for each in known])
                    if known else '; the inventory has no volume types'))
        traits.add(trait)
    return replace(
        requirements, required_traits=requirements.required_traits | traits,
        resources=FrozenMapping({VOLUME_GB: volume.size_gb}))


def without_pools(requirements: Requirements) -> Requirements:
    """The requirements of a server for its host, where there are pools."""
    return replace(requirements, forbidden_traits=(
        requirements.forbidden_traits | {POOL}))


def required(trait: str) -> str:
    """Describe a host with the trait, for a message."""
    if trait == POOL:
        return 'is of kind storage pool'
    return f'has {named(trait)}'


def forbidden(trait: str) -> str:
    """Describe a host without the trait, for a message."""
    if trait == POOL:
        return 'is of kind compute host'
    return f'is without {named(trait)}'


def named(trait: str) -> str:
    """``trait CUSTOM_X`` or ``volume type fast``."""
    return trait if trait.startswith(_TYPE) else f'trait {trait}'


def _known_types(snapshot: Snapshot) -> frozenset[str]:
    return snapshot.once('volume types', lambda: frozenset(
        trait for host in snapshot.hosts if POOL in host.traits
        for trait in host.traits if trait.startswith(_TYPE)))
