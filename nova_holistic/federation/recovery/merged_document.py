# SPDX-License-Identifier: Apache-2.0
"""Merges the documents of the parts in several clouds into one document.

The rules of the level ``cloud`` are missing: the clouds do not have them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.federation.child import Document

Parts = Sequence[tuple[str, Document]]
"""Names of clouds, each with the document of the (nested) group there."""


def merged_document(parts: Parts) -> dict[str, Any]:
    """The document of the group with the members of all parts, and with
    locations that begin with the name of the cloud."""
    first = {key: value for _, document in parts
             for key, value in document.items() if key not in _LISTS}
    found = {**first, 'name': parts[0][1]['name']}
    lists = {
        'policies': _distinct([
            _policy(cloud, each) for cloud, document in parts
            for each in document.get('policies', ())]),
        'relationships': _distinct([
            each for _, document in parts
            for each in document.get('relationships', ())]),
        'members': [_member(each) for each in _by_name(parts, 'members')],
        'groups': [merged_document(each)
                   for each in _by_name(parts, 'groups')]}
    return {**found, **{key: each for key, each in lists.items() if each}}


_LISTS = ('policies', 'relationships', 'members', 'groups')


def _by_name(parts: Parts, key: str) -> Sequence[Parts]:
    """The members or nested groups of all parts, grouped by their names."""
    found: dict[str, list[tuple[str, Document]]] = {}
    for cloud, document in parts:
        for each in document.get(key, ()):
            found.setdefault(each['name'], []).append((cloud, each))
    return list(found.values())


def _member(parts: Parts) -> dict[str, Any]:
    """A member description. A server is skipped only if all clouds skip it."""
    found = dict(parts[0][1])
    found.pop('skip', None)
    skipped = set.intersection(*(
        set(document.get('skip', ())) for _, document in parts))
    if skipped:
        found['skip'] = sorted(skipped)
    locations = {_below(cloud, document['location'])
                 for cloud, document in parts if 'location' in document}
    if len(locations) == 1:
        found['location'] = locations.pop()
    return found


def _policy(cloud: str, policy: Mapping[str, Any]) -> Mapping[str, Any]:
    if policy['type'] != 'location':
        return policy
    return {**policy, 'path': _below(cloud, policy['path'])}


def _below(cloud: str, location: str) -> str:
    return f'{cloud}/{location}'


def _distinct(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for each in values:
        if each not in found:
            found.append(each)
    return found
