# SPDX-License-Identifier: Apache-2.0
"""Section ``groups`` of a template: groups whose members are resources."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.hot.functions import Resolver
from nova_holistic.documents.schemas.group import MAX_DEPTH, MAX_MEMBERS
from nova_holistic.documents.schemas.hot import ENTRY, ENTRY_MEMBER
from nova_holistic.documents.validation import brief, join, validator
from nova_holistic.exceptions import InvalidDocument

_check_entry = validator(ENTRY)
_check_member = validator(ENTRY_MEMBER)


@dataclass(frozen=True, slots=True)
class NamedResource:
    """A resource that an entry names as member.

    :ivar keys: the keys of the entry that group documents also have
    """

    resource: str
    place: str
    keys: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """One group of the section with evaluated functions.

    :ivar rules: ``policies`` and ``relationships``, if any
    """

    name: Any
    place: str
    members: tuple[NamedResource, ...]
    groups: tuple['GroupEntry', ...]
    rules: dict[str, list]

    def all(self) -> Iterator['GroupEntry']:
        """This entry and those nested in it."""
        yield self
        for entry in self.groups:
            yield from entry.all()


def read_entries(section: Any, resolver: Resolver, place: str = 'groups',
                 depth: int = 1) -> tuple[GroupEntry, ...]:
    """Entries by name, or a list of entries with names.

    The mistakes of each entry are collected, and its other parts are read.

    :raises InvalidDocument: the section as a whole cannot be accepted
    """
    if section is None:
        return ()
    # The template itself is the outermost group.
    if depth >= MAX_DEPTH:
        raise InvalidDocument(
            place, f'groups are nested more than {MAX_DEPTH} deep')
    if isinstance(section, dict):
        found = [(name, entry, join(place, name))
                 for name, entry in section.items()]
    elif isinstance(section, list):
        found = []
        for i, entry in enumerate(section):
            with resolver.mistakes.collected():
                found.append((_own_name(entry, join(place, i)), entry,
                              join(place, i)))
    else:
        raise InvalidDocument(
            place, f'must be a mapping or a list, not {brief(section)}')
    entries = []
    for name, entry, where in found:
        with resolver.mistakes.collected():
            entries.append(_entry(name, entry, resolver, where, depth))
    return tuple(entries)


def _own_name(entry: Any, place: str) -> Any:
    if not isinstance(entry, dict):
        raise InvalidDocument(place, f'must be a mapping, not {brief(entry)}')
    if 'name' not in entry:
        raise InvalidDocument(place, 'name is missing')
    return entry['name']


def _entry(name: Any, entry: Any, resolver: Resolver, place: str,
           depth: int) -> GroupEntry:
    if isinstance(entry, dict):
        entry = {key: value for key, value in entry.items()
                 if value is not None}
    _check_entry(entry, place)
    if entry.get('name', name) != name:
        raise InvalidDocument(
            join(place, 'name'), f'must be its key, {brief(name)}, or absent')
    members = entry.get('members', [])
    if len(members) > MAX_MEMBERS:
        raise InvalidDocument(
            join(place, 'members'), f'more than {MAX_MEMBERS} members')
    named, nested, rules = [], (), {}
    for i, member in enumerate(members):
        with resolver.mistakes.collected():
            named.append(_named(member, resolver, join(place, 'members', i)))
    with resolver.mistakes.collected():
        nested = read_entries(entry.get('groups'), resolver,
                              join(place, 'groups'), depth + 1)
    for key in ('policies', 'relationships'):
        with resolver.mistakes.collected():
            if key in entry:
                rules[key] = resolver.items(entry[key], join(place, key))
    return GroupEntry(name, place, tuple(named), nested, rules)


def _named(member: Any, resolver: Resolver, place: str) -> NamedResource:
    if isinstance(member, str):
        return NamedResource(member, place, {})
    if not isinstance(member, dict):
        raise InvalidDocument(
            place, 'must be the name of a resource, or a mapping with '
            f'resource, not {brief(member)}')
    keys = {key: value if key == 'resource'
            else resolver.value(value, join(place, key))
            for key, value in member.items()}
    _check_member(keys, place)
    return NamedResource(keys.pop('resource'), place, keys)
