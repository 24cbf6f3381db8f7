# SPDX-License-Identifier: Apache-2.0
"""Parts of group documents, found by name or path."""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.validation import brief
from nova_holistic.model.members.bounds import numbered

Document = dict[str, Any]


def top(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The group of a document, with or without its outer key."""
    return document.get('group', document)


def below(path: str, name: str) -> str:
    return f'{path}/{name}'.lstrip('/')


def index(parts: Sequence[Mapping[str, Any]], name: str) -> int | None:
    return next((i for i, part in enumerate(parts)
                 if part['name'] == name), None)


def missing_group(document: Mapping[str, Any], path: str) -> str:
    """Why the document does not describe a group at this path: no such group
    exists, or the count of another group creates it."""
    group, known = top(document), ''
    for name in path.split('/'):
        groups = group.get('groups', ())
        at = index(groups, name)
        if at is None:
            counted = next((
                each['name'] for each in groups if 'count' in each
                and numbered(each['name'], name) is not None), None)
            if counted is None:
                break
            return (f'the count of group {brief(below(known, counted))} '
                    f'creates {brief(below(known, name))}: all groups of a '
                    f'count have the same members')
        group, known = groups[at], below(known, name)
    return f'there is no group {brief(path)}'
