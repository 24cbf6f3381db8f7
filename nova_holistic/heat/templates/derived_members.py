# SPDX-License-Identifier: Apache-2.0
"""Members of a group document that come from the servers of a template."""

from collections.abc import Iterable, Iterator, Mapping
import copy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TemplateServer:
    """A server of the template that points at the group.

    :ivar place: position of its member in the template
    :ivar path: of its member
    :ivar description: of its member, without a name
    """

    place: tuple[str, ...]
    path: str
    description: Mapping[str, Any]


def with_members(definition: Mapping[str, Any],
                 servers: Iterable[TemplateServer]) -> dict[str, Any]:
    """The definition with a member for each server. Nested groups of the
    paths that the definition does not have are added. A definition with other
    values than lists of groups and members keeps them: it is invalid."""
    copied = copy.deepcopy(dict(definition))
    for server in servers:
        *groups, name = server.path.split('/')
        inside = copied
        for group in groups:
            inside = _group_named(_list(inside, 'groups'), group)
        _list(inside, 'members').append({'name': name, **server.description})
    return copied


def describes_members(definition: Mapping[str, Any]) -> bool:
    """Whether a definition contains any member."""
    return bool(definition.get('members')) or any(
        describes_members(group) for group in _groups(definition))


def group_paths(definition: Mapping[str, Any], base: str) -> Iterator[str]:
    """The paths of all nested groups."""
    for group in _groups(definition):
        if isinstance(group.get('name'), str):
            yield base + group['name']
            yield from group_paths(group, f'{base}{group["name"]}/')


def _groups(definition: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    groups = definition.get('groups')
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, Mapping):
            yield group


def _list(group: dict[str, Any], key: str) -> list[Any]:
    """The list at a key, which is added if it is missing."""
    found = group.setdefault(key, [])
    return found if isinstance(found, list) else []


def _group_named(groups: list[Any], name: str) -> dict[str, Any]:
    """The group of this name, which is added if it is missing."""
    for group in groups:
        if isinstance(group, dict) and group.get('name') == name:
            return group
    groups.append({'name': name})
    return groups[-1]
