# SPDX-License-Identifier: Apache-2.0
"""The image of a member: its name, or its properties."""

from collections.abc import Mapping
import re
from typing import Any

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.image import Image

_OWN = ('min_disk', 'min_ram', 'disk_format')
_TRAIT = re.compile(r'trait:(.*)\Z', re.DOTALL)
_TRAIT_NAME = re.compile(r'[A-Z0-9_]{1,255}\Z')


def read_image(document: Any, place: str) -> str | Image | None:
    """The model of an image whose document fits the schema.

    :raises InvalidDocument: a trait has an impossible name or value
    """
    if document is None or isinstance(document, str):
        return document
    return image_of(document, place)


def image_of(document: Mapping[str, Any], place: str,
             name: str = '') -> Image:
    """An image from its properties, which are flat, as in Glance.

    :raises InvalidDocument: a trait has an impossible name or value; with all
        mistakes
    """
    mistakes = Mistakes()
    for key, value in document.items():
        match = _TRAIT.match(key)
        if match and not _TRAIT_NAME.match(match[1]):
            mistakes.add(InvalidDocument(
                join(place, key), f'{brief(match[1])} is not the name of a '
                'trait: capitals, digits and _'))
        elif match and value != 'required':
            mistakes.add(InvalidDocument(
                join(place, key), f"must be 'required', not {brief(value)}"))
    mistakes.must_be_none()
    return Image(
        name=name,
        properties=FrozenMapping({
            key: str(value) for key, value in document.items()
            if key not in _OWN}),
        disk_format=document.get('disk_format', ''),
        min_disk=document.get('min_disk', 0),
        min_ram=document.get('min_ram', 0))
