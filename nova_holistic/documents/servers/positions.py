# SPDX-License-Identifier: Apache-2.0
"""The positions of the key ``server`` in a group document."""

from collections.abc import Iterator
from typing import Any

from nova_holistic.documents.servers.server import KEY
from nova_holistic.documents.validation import join


def server_positions(document: Any) -> Iterator[str]:
    """
    :param document: a group document, which may be invalid, without its
        outer key
    """
    for place, member in _members(document, ''):
        if isinstance(member, dict) and KEY in member:
            yield join(place, KEY)


def positions_without_server(document: Any) -> Iterator[str]:
    """Positions of members without the key.

    :param document: a valid group document without its outer key
    """
    for place, member in _members(document, ''):
        if KEY not in member:
            yield place


def _members(document: Any, place: str) -> Iterator[tuple[str, Any]]:
    for number, member in _items(document, 'members'):
        yield join(place, 'members', number), member
    for number, group in _items(document, 'groups'):
        yield from _members(group, join(place, 'groups', number))


def _items(document: Any, key: str) -> Iterator[tuple[int, Any]]:
    found = document.get(key) if isinstance(document, dict) else None
    if isinstance(found, list):
        yield from enumerate(found)
