# SPDX-License-Identifier: Apache-2.0
"""The position of a template's groups: the section ``groups``, or the metadata
of a resource, which Heat accepts."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument

SECTION = 'groups'
KEY = 'holistic_groups'
"""Key in the metadata of one resource."""


def groups_of(template: Mapping[str, Any]) -> tuple[Any, str]:
    """The groups and their position; None if the template has none.

    :raises InvalidDocument: the template has groups at two positions
    """
    found = [(template[SECTION], SECTION)] if SECTION in template else []
    found += [(resource['metadata'][KEY], join(
        'resources', name, 'metadata', KEY))
        for name, resource in template['resources'].items()
        if _is_annotated(resource)]
    if len(found) > 1:
        raise InvalidDocument(
            found[1][1], f'the groups are already at {found[0][1]}')
    return found[0] if found else (None, SECTION)


def without_groups(template: Mapping[str, Any]) -> dict[str, Any]:
    """The template without its groups."""
    return {
        **{key: value for key, value in template.items() if key != SECTION},
        'resources': {name: _plain(resource) for name, resource
                      in template['resources'].items()}}


def _is_annotated(resource: Any) -> bool:
    metadata = resource.get('metadata') if isinstance(
        resource, Mapping) else None
    return isinstance(metadata, Mapping) and KEY in metadata


def _plain(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    if not _is_annotated(resource):
        return resource
    rest = {key: value for key, value in resource['metadata'].items()
            if key != KEY}
    found = {key: value for key, value in resource.items()
             if key != 'metadata'}
    return {**found, 'metadata': rest} if rest else found
