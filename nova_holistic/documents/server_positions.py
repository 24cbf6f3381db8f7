# SPDX-License-Identifier: Apache-2.0
"""Where a group document has the key ``server``."""

from collections.abc import Iterator
from typing import Any

from nova_holistic.documents.server import KEY
from nova_holistic.documents.validation import join


def server_positions(document: Any, place: str = '') -> Iterator[str]:
    """
    :param document: a group document, which may be invalid, without its
        outer key
    :param place: its position in a larger document
    """
    for number, member in _items(document, 'members'):
        if isinstance(member, dict) and KEY in member:
            yield join(place, 'members', number, KEY)
    for number, group in _items(document, 'groups'):
        yield from server_positions(group, join(place, 'groups', number))


def _items(document: Any, key: str) -> Iterator[tuple[int, Any]]:
    found = document.get(key) if isinstance(document, dict) else None
    if isinstance(found, list):
        yield from enumerate(found)
