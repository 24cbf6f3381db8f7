# SPDX-License-Identifier: Apache-2.0
"""The request groups of a member, in a group document."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.request_group import RequestGroup


def read_request_groups(document: Mapping[str, Any],
                        place: str) -> tuple[RequestGroup, ...]:
    """
    :param document: a member, which fits the schema
    :param place: position of the member
    :raises InvalidDocument: a trait is required and forbidden, or a key
        is not allowed without or with another one
    """
    groups = document.get('request_groups', {})
    if 'group_policy' in document and 'flavor' in document:
        raise InvalidDocument(
            join(place, 'group_policy'),
            'requires resources; a flavor defines its group policy')
    for key in ('group_policy', 'same_subtree'):
        if key in document and not groups:
            raise InvalidDocument(join(place, key), 'requires request_groups')
    return tuple(
        RequestGroup(suffix, FrozenMapping(each['resources']), *read_traits(
            each, join(place, 'request_groups', suffix)))
        for suffix, each in sorted(groups.items()))


def read_same_subtree(document: Mapping[str, Any],
                      place: str) -> tuple[frozenset[str], ...]:
    """The sets of groups whose providers must be in one subtree.

    :param document: a member, which fits the schema
    :param place: position of the member
    :raises InvalidDocument: the member has no such group
    """
    groups = document.get('request_groups', {})
    for i, suffixes in enumerate(document.get('same_subtree', ())):
        for j, suffix in enumerate(suffixes):
            if suffix not in groups:
                raise InvalidDocument(
                    join(place, 'same_subtree', i, j),
                    f'{suffix!r} is not in request_groups')
    return tuple(map(frozenset, document.get('same_subtree', ())))


def read_traits(document: Mapping[str, Any],
                place: str) -> tuple[frozenset[str], frozenset[str]]:
    """Required and forbidden traits of a member or of a request group.

    :raises InvalidDocument: a trait is both
    """
    traits = document.get('traits', {})
    required = frozenset(traits.get('required', ()))
    for i, trait in enumerate(traits.get('forbidden', ())):
        if trait in required:
            raise InvalidDocument(
                join(place, 'traits', 'forbidden', i),
                f'{trait} is also required')
    return required, frozenset(traits.get('forbidden', ()))
