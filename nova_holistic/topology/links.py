# SPDX-License-Identifier: Apache-2.0
"""A link is the uplink of one domain, with a capacity in Mbit/s.

The domain is one of the tree, or the hosts with one value of a label.
"""

from collections.abc import Mapping
from typing import Any

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.snapshot import Link


def parse_links(document: Mapping[str, Any], levels: tuple[str, ...],
                ) -> tuple[Link, ...]:
    """``links`` of an inventory document; empty without this key.

    A domain need not have hosts yet.

    :raises InvalidDocument: at the first invalid link
    """
    links: dict[tuple[str | None, tuple[str, ...]], Link] = {}
    entries = document.get('links', [])
    if not isinstance(entries, list):
        raise InvalidDocument('links', 'must be a list')
    for index, entry in enumerate(entries):
        place = f'links[{index}]'
        if not isinstance(entry, dict):
            raise InvalidDocument(place, 'must be a mapping')
        label = _label(entry, levels, f'{place}.level')
        domain = _domain(entry, label, levels, f'{place}.domain')
        if (label, domain) in links:
            raise InvalidDocument(
                f'{place}.domain',
                f'{"/".join(domain)!r} already has a link')
        links[label, domain] = Link(
            domain, _mbps(entry.get('uplink_mbps'), f'{place}.uplink_mbps'),
            _mbps(entry.get('used_mbps', 0), f'{place}.used_mbps'), label)
    return tuple(links.values())


def _label(entry: Mapping[str, Any], levels: tuple[str, ...],
           place: str) -> str | None:
    label = entry.get('level')
    if label is None:
        return None
    if not isinstance(label, str) or not label or label in levels:
        raise InvalidDocument(
            place, 'must be a label of hosts, and no level of the tree')
    return label


def _domain(entry: Mapping[str, Any], label: str | None,
            levels: tuple[str, ...], place: str) -> tuple[str, ...]:
    path = entry.get('domain')
    if label is not None:
        if not isinstance(path, str) or not path:
            raise InvalidDocument(place, 'must be a value of the label')
        return (path,)
    if not isinstance(path, str) or not all(path.split('/')):
        raise InvalidDocument(
            place, 'must be names from the coarsest level on, joined by /')
    domain = tuple(path.split('/'))
    if len(domain) > len(levels):
        raise InvalidDocument(
            place, f'{len(domain)} names for {len(levels)} levels')
    return domain


def _mbps(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidDocument(place, 'must be a whole number, at least 0')
    return value
