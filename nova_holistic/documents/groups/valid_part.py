# SPDX-License-Identifier: Apache-2.0
"""The part of a group document that has the right shape.

The valid members, policies and relationships are read even if others are
invalid, so that one pass finds all mistakes of the document.
"""

from collections.abc import Iterable
import copy
from typing import Any

from jsonschema.exceptions import ValidationError

_ITEMS = ('members', 'policies', 'relationships')
_PARTS = ('members', 'groups')


def valid_part(document: Any,
               errors: Iterable[ValidationError]) -> dict | None:
    """A copy with None in place of each invalid item, so that the positions of
    all others remain. An invalid list of members or groups has one such item.
    None if no part of the document can be read."""
    document = copy.deepcopy(document)
    for error in errors:
        path = list(error.absolute_path)
        if not path and error.validator == 'type':
            return None
        _leave_out(document, path, error)
    return document


def _leave_out(group: Any, path: list[str | int],
               error: ValidationError) -> None:
    while path[:1] == ['groups'] and len(path) > 1:
        parent, group, path = group, group['groups'][path[1]], path[2:]
        if group is None:
            # The item is already left out.
            return
        if not path and error.validator == 'type':
            parent['groups'][parent['groups'].index(group)] = None
            return
    if not path:
        known = error.schema.get('properties', {})
        if error.validator == 'additionalProperties':
            for key in [key for key in group if key not in known]:
                del group[key]
            # The name of the key with the members may be wrong.
            group.setdefault('members', [None])
        group.setdefault('name', '')
    elif path[0] == 'name':
        group['name'] = ''
    elif path[0] in _ITEMS and len(path) > 1:
        if path[0] in group:
            group[path[0]][path[1]] = None
    elif path[0] in _PARTS:
        group[path[0]] = [None]
    else:
        group.pop(path[0], None)
