# SPDX-License-Identifier: Apache-2.0
"""The key ``server`` of a member description: values that only the create
request needs.

Nova's own format, see ``schemas.server``. The key is not part of the plan: the
model of a group does not contain it, so a change of it moves no member.
"""

from collections.abc import Iterator, Mapping
import re
from typing import Any

from nova_holistic.documents.schemas.server import DEVICES, REFUSED, SERVER
from nova_holistic.documents.servers.value_formats import FORMATS
from nova_holistic.documents.validation import brief, join, listed, validator
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.nova.pointer_hints import GROUP_HINT, MEMBER_HINT

KEY = 'server'
VARIABLES = ('group', 'index', 'member', 'path')
"""Variables in braces that ``name`` may contain."""
POINTER_METADATA = (GROUP_HINT, MEMBER_HINT)
"""Metadata that each created server has."""

_VARIABLE = re.compile(r'\{([a-z]*)\}')
_UUID = re.compile(r'[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z')

_check_shape = validator(SERVER, FORMATS)


def check_server(member: Mapping[str, Any], place: str) -> None:
    """Check the key of a member description, if it has the key.

    :param member: member that matches its own schema
    :param place: position of the member
    :raises InvalidDocument: with all mistakes
    """
    if KEY not in member:
        return
    server, place = member[KEY], join(place, KEY)
    mistakes = Mistakes()
    for key in server:
        if key in REFUSED:
            mistakes.add(InvalidDocument(
                join(place, key), f'must not be given: {REFUSED[key]}'))
    with mistakes.collected():
        _check_shape({key: value for key, value in server.items()
                      if key not in REFUSED}, place)
    mistakes.must_be_none()
    for mistake in _contradictions(member, server, place):
        mistakes.add(mistake)
    mistakes.must_be_none()


def known_image(member: Mapping[str, Any]) -> str | None:
    """The UUID of the image that the description names, if it names one."""
    image = member.get('image')
    return image if isinstance(image, str) and _UUID.match(image) else None


def named(text: str, values: Mapping[str, str]) -> str:
    """The text in which values replace variables."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def _contradictions(member: Mapping[str, Any], server: Mapping[str, Any],
                    place: str) -> Iterator[InvalidDocument]:
    yield from _of_flavor(member, server, place)
    yield from _of_image(member, server, place)
    for found in _VARIABLE.findall(server.get('name', '')):
        if found not in VARIABLES:
            yield InvalidDocument(
                join(place, 'name'), f'unknown variable {brief(found)}; '
                f'known are {listed(VARIABLES)}')
        elif found == 'index' and 'count' not in member:
            yield InvalidDocument(
                join(place, 'name'),
                'has an index, and the member has no count')
    for key in POINTER_METADATA:
        if key in server.get('metadata', {}):
            yield InvalidDocument(
                join(place, 'metadata', key),
                'must not be given: every created server has this key')


def _of_flavor(member: Mapping[str, Any], server: Mapping[str, Any],
               place: str) -> Iterator[InvalidDocument]:
    if 'flavor' in member and 'flavorRef' in server:
        yield InvalidDocument(
            join(place, 'flavorRef'),
            'must not be given: the member description names the flavor')
    if 'resources' in member and 'flavorRef' not in server:
        yield InvalidDocument(
            place, 'flavorRef is missing: the member description has '
            'resources and no flavor')


def _of_image(member: Mapping[str, Any], server: Mapping[str, Any],
              place: str) -> Iterator[InvalidDocument]:
    image, described = server.get('imageRef'), known_image(member)
    if image and described and image.lower() != described.lower():
        yield InvalidDocument(
            join(place, 'imageRef'),
            'is not the image of the member description')
    if not image and not described and not server.get(DEVICES):
        yield InvalidDocument(
            place, f'must have either imageRef or {DEVICES}')
    volume = _has_root_volume(server)
    if volume and not member.get('boot_from_volume', 'resources' in member):
        yield InvalidDocument(
            join(place, DEVICES), 'the root disk is a volume, and the member '
            'description does not contain boot_from_volume: true')
    if member.get('boot_from_volume') and not volume:
        yield InvalidDocument(
            place, 'the member description contains boot_from_volume, and the '
            f'root disk (boot_index: 0 in {DEVICES}) is not a volume')


def _has_root_volume(server: Mapping[str, Any]) -> bool:
    return any(
        str(device.get('boot_index')) == '0'
        and device.get('destination_type', 'volume') == 'volume'
        for device in server.get(DEVICES, ()))
