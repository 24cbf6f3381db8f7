# SPDX-License-Identifier: Apache-2.0
"""The providers below a host in an inventory document."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping


def read_providers(document: Sequence[Mapping[str, Any]],
                   place: str) -> tuple[NestedProvider, ...]:
    """
    :param document: a document that matches the schema
    :param place: position in the inventory document, for errors
    :raises InvalidDocument: a name exists twice, a provider comes before its
        parent, or an inventory is not possible
    """
    found: dict[str, NestedProvider] = {}
    for i, each in enumerate(document):
        name, parent = each['name'], each.get('parent')
        if name in found:
            raise InvalidDocument(
                join(place, i, 'name'),
                f'{brief(name)} is already the name of a provider of this '
                'host')
        if parent is not None and parent not in found:
            raise InvalidDocument(
                join(place, i, 'parent'),
                f'no provider {brief(parent)} comes before this one')
        found[name] = NestedProvider(
            uuid=each['uuid'].lower() if 'uuid' in each else name,
            name=name, parent=found[parent].uuid if parent else '',
            inventories=read_resources(each['resources'], join(place, i)),
            traits=frozenset(each.get('traits', ())))
    return tuple(found.values())


def read_resources(document: Mapping[str, Any],
                   place: str) -> FrozenMapping[str, Inventory]:
    """The inventories of one provider.

    :param place: position of the provider
    :raises InvalidDocument: the reserved amount exceeds the total
    """
    return FrozenMapping({name: _inventory(fields, place, name)
                          for name, fields in document.items()})


def _inventory(fields: Mapping[str, Any], place: str, name: str) -> Inventory:
    inventory = Inventory(**fields)
    if inventory.reserved > inventory.total:
        raise InvalidDocument(
            join(place, 'resources', name, 'reserved'),
            f'must be at most the total, {inventory.total}')
    return inventory


def parents_first(providers: Sequence[NestedProvider]
                  ) -> Iterator[NestedProvider]:
    """The providers in an order that ``read_providers`` accepts."""
    waiting, known = list(providers), {''}
    while waiting:
        ready = [each for each in waiting if each.parent in known]
        if not ready:
            # The parents of the others are missing.
            return
        yield from ready
        waiting = [each for each in waiting if each.parent not in known]
        known.update(each.uuid for each in ready)
