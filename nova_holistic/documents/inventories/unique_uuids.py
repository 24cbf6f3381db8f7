# SPDX-License-Identifier: Apache-2.0
"""The UUIDs of resource providers in an inventory document are unique, as in
Placement."""

from collections.abc import Iterator, Mapping
from typing import Any

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes

_Steps = tuple[str | int, ...]


def check_uuids(document: Mapping[str, Any], mistakes: Mistakes) -> None:
    """Check the UUIDs of hosts, of the providers below them, and of sharing
    providers. The UUIDs of sharing providers are already known to differ from
    each other.

    :param document: an inventory document that matches the schema
    :param mistakes: gets an error for each UUID that another provider has
    """
    taken: dict[str, _Steps] = {}
    for uuid, steps in _of_hosts(document):
        if uuid in taken:
            mistakes.add(_mistake(uuid, steps, taken[uuid]))
        taken.setdefault(uuid, steps)
    for i, each in enumerate(document.get('sharing_providers', ())):
        uuid = each.get('uuid', '').lower()
        if uuid in taken:
            mistakes.add(_mistake(
                uuid, ('sharing_providers', i), taken[uuid]))


def _of_hosts(document: Mapping[str, Any]) -> Iterator[tuple[str, _Steps]]:
    """Each UUID of a host or of a provider below it, and its position."""
    for i, host in enumerate(document['hosts']):
        if 'uuid' in host:
            yield host['uuid'].lower(), ('hosts', i)
        for j, each in enumerate(host.get('providers', ())):
            if 'uuid' in each:
                yield each['uuid'].lower(), ('hosts', i, 'providers', j)


def _mistake(uuid: str, steps: _Steps, other: _Steps) -> InvalidDocument:
    return InvalidDocument(
        join('', *steps, 'uuid'),
        f'{brief(uuid)} is already the uuid of {join("", *other)}')
