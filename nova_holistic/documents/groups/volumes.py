# SPDX-License-Identifier: Apache-2.0
"""Volumes in a group document, and servers that boot from them."""

from collections.abc import Mapping, Sequence
import re
from typing import Any

from nova_holistic.documents.schemas.common import UUID
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import Bounds
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.members.volume import Volume

KIND = 'kind'
VOLUME = 'volume'
BOOT_VOLUME = 'boot_volume'

AT_PLAN_TIME = 'create_at_plan_time'
IMAGE = 'image'

_OF_VOLUMES = ('size', 'volume_type', AT_PLAN_TIME)
"""Keys of volumes only."""

_OF_BOTH = (KIND, 'name', 'count', 'skip', 'availability_zone', 'location',
            IMAGE, *_OF_VOLUMES)
"""All keys that a volume may have."""

_IS_UUID = re.compile(UUID['pattern'])


def is_volume(member: Mapping[str, Any]) -> bool:
    return member.get(KIND) == VOLUME


def check_kind(member: Mapping[str, Any], place: str) -> None:
    """Check that a member has only the keys of its kind.

    :param member: member that matches the schema
    :param place: its position
    :raises InvalidDocument: with all mistakes
    """
    mistakes = Mistakes()
    for key in member:
        if is_volume(member) and key not in _OF_BOTH:
            mistakes.add(InvalidDocument(
                join(place, key), 'only a server can have this key'))
        if not is_volume(member) and key in _OF_VOLUMES:
            mistakes.add(InvalidDocument(
                join(place, key), 'only a volume can have this key (kind: '
                'volume)'))
    if is_volume(member) and isinstance(member.get('count'), dict):
        mistakes.add(InvalidDocument(
            join(place, 'count'), 'the number of volumes must be fixed'))
    with mistakes.collected():
        _check_image(member, place)
    mistakes.must_be_none()


def _check_image(member: Mapping[str, Any], place: str) -> None:
    """
    :raises InvalidDocument: no engine can create the volume from its image
    """
    if not is_volume(member) or IMAGE not in member:
        return
    at = join(place, IMAGE)
    if not member.get(AT_PLAN_TIME):
        raise InvalidDocument(
            at, f'a volume can have this key only with {AT_PLAN_TIME}: true')
    image = member[IMAGE]
    if not isinstance(image, str) or not _IS_UUID.match(image):
        raise InvalidDocument(at, 'must be the UUID of an image')


def read_volume(member: Mapping[str, Any]) -> Volume | None:
    """The volume, if the member is one."""
    if not is_volume(member):
        return None
    return Volume(member['size'], member.get('volume_type'),
                  member.get(AT_PLAN_TIME, False), member.get(IMAGE))


def boots_from_volume(member: Mapping[str, Any], place: str) -> bool:
    """Whether the root disk of a server is a volume.

    :raises InvalidDocument: the keys contradict each other
    """
    found = member.get('boot_from_volume', False)
    if 'boot_volume' in member and not member.get('boot_from_volume', True):
        raise InvalidDocument(
            join(place, 'boot_from_volume'),
            'must be true or absent, because the member has a boot_volume')
    if found and 'flavor' not in member:
        raise InvalidDocument(
            join(place, 'boot_from_volume'),
            'requires a flavor; resources contain the local disk')
    return found or ('boot_volume' in member and 'flavor' in member)


def check_boot_volumes(members: Sequence[Mapping[str, Any] | None],
                       place: str) -> None:
    """Check that each boot volume is a volume of the same group with one
    volume for each server.

    :param members: members of one group; None in place of an invalid one
    :param place: position of the group
    :raises InvalidDocument: with all mistakes
    """
    known = {each['name']: each for each in members if each is not None}
    mistakes, users = Mistakes(), dict[str, int]()
    for i, member in enumerate(members):
        name = (member or {}).get('boot_volume')
        if member is None or name is None:
            continue
        at = join(place, 'members', i, 'boot_volume')
        volume = known.get(name)
        if volume is None or not is_volume(volume):
            mistakes.add(InvalidDocument(
                at, f'there is no volume {brief(name)} among the members of '
                'the same group'))
        elif any(member.get(key) != volume.get(key)
                 for key in ('count', 'skip')):
            mistakes.add(InvalidDocument(
                at, f'{brief(name)} must have the same count and skip as its '
                'servers'))
        elif name in users:
            mistakes.add(InvalidDocument(
                at, f'{brief(name)} is the boot volume of '
                f'{join(place, "members", users[name])} already'))
        users.setdefault(name, i)
    mistakes.must_be_none()


def must_be_fixed(bounds: Bounds | None, volumes: bool, place: str) -> None:
    """
    :param bounds: bounds of the number of groups
    :param volumes: whether the group has volumes
    :raises InvalidDocument: the number may change
    """
    if bounds and volumes:
        raise InvalidDocument(
            place, 'the number of groups with volumes must be fixed')


def has_volumes(document: Mapping[str, Any]) -> bool:
    """Whether a member is a volume.

    :param document: a valid group document, with or without its outer key
    """
    document = document.get('group', document)
    return any(map(is_volume, document.get('members', ()))) or any(
        map(has_volumes, document.get('groups', ())))


def has_volumes_at_plan_time(document: Mapping[str, Any]) -> bool:
    """Whether an engine creates a volume of the group.

    :param document: a valid group document, with or without its outer key
    """
    document = document.get('group', document)
    return any(each.get(AT_PLAN_TIME) for each in document.get(
        'members', ())) or any(
            map(has_volumes_at_plan_time, document.get('groups', ())))


def at_plan_time(group: Group) -> Sequence[str]:
    """Paths of the volumes that an engine creates after they are planned."""
    return [member.path for member in group.all_members()
            if member.requirements.volume
            and member.requirements.volume.at_plan_time]


def must_have_servers(group: Group) -> None:
    """
    :raises InvalidDocument: all members are volumes, and only servers
        determine the status of a group
    """
    if all(member.requirements.volume for member in group.all_members()) and (
            not group.is_elastic):
        raise InvalidDocument(
            'members', 'a group with volumes needs a server')


def must_keep_volumes(before: Group, after: Group) -> None:
    """Check that an update leaves the volumes of a group unchanged.

    :raises InvalidDocument: with the position of each volume that is changed,
        added or removed
    """
    old, new = _volumes(before), _volumes(after)
    found: dict[str, str] = {}
    for path in {**old, **new}:
        if path not in new:
            found.setdefault(old[path].place, f'remove volume {brief(path)}')
        elif path not in old:
            found.setdefault(new[path].place, f'add volume {brief(path)}')
        elif _wanted(old[path]) != _wanted(new[path]):
            found.setdefault(new[path].place, f'change volume {brief(path)}')
    mistakes = Mistakes()
    for place, change in found.items():
        mistakes.add(InvalidDocument(
            place, f'an update cannot {change}: the volumes of a group are '
            'planned once'))
    mistakes.must_be_none()


def _volumes(group: Group, prefix: str = '') -> dict[str, MemberDescription]:
    """The descriptions of volumes by the paths of their volumes."""
    found = {prefix + name: each for each in group.members
             if each.requirements.volume for name in each.server_names()}
    for nested in group.groups:
        found |= _volumes(nested, f'{prefix}{nested.name}/')
    return found


def _wanted(description: MemberDescription) -> tuple[str, Requirements]:
    return description.name, description.requirements
