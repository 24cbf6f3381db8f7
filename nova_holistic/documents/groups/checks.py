# SPDX-License-Identifier: Apache-2.0
"""Checks of the names and the number of a group's members."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections import defaultdict

from nova_holistic.documents.schemas.group import MAX_MEMBERS, MAX_PATH
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import description_of, numbered
from nova_holistic.model.members.member import MemberDescription

_Part = MemberDescription | Group


def check_names(group: Group) -> None:
    """Check that no path below the group has two meanings.

    The plain name of a counted description stands for all its servers, so it
    is used in addition to their names. The same applies to a nested group that
    exists several times.
    """
    taken: dict[str, str] = {}
    # By name: a group may have thousands of them.
    growing: dict[str, list[_Part]] = defaultdict(list)
    for each in (*group.members, *group.templates):
        if each.bounds:
            growing[each.name].append(each)
    for names, place in _names(group):
        for name in names:
            _must_not_become(name, place, growing)
            if name in taken:
                raise InvalidDocument(
                    join(place, 'name'),
                    f'{name!r} is already a name in {taken[name]}')
        taken.update(dict.fromkeys(names, place))


def _names(group: Group) -> Iterator[tuple[Collection[str], str]]:
    """The names that each part of the document uses, and its position."""
    for member in group.members:
        yield {member.name: None, **dict.fromkeys(
            member.server_names())}, member.place
    replicas: dict[str, dict[str, None]] = {
        each.place: {each.name: None} for each in group.templates}
    for nested in group.groups:
        names = replicas.setdefault(nested.place, {})
        names.update(dict.fromkeys(filter(None, (nested.stem, nested.name))))
    yield from ((names, place) for place, names in replicas.items())


def _must_not_become(name: str, place: str,
                     growing: Mapping[str, Iterable[_Part]]) -> None:
    for part in growing.get(description_of(name), ()):
        if part.place != place and numbered(part.name, name) is not None:
            raise InvalidDocument(
                join(place, 'name'),
                f'{name!r} may become a name in {part.place}, whose number '
                f'may change')


def check_replicas(group: Group, number: int, place: str) -> None:
    """
    :param number: number of groups like this one
    :raises InvalidDocument: they have more members than are accepted
    """
    total = number * max(1, most_members(group))
    if total > MAX_MEMBERS:
        raise InvalidDocument(
            place, f'{total} members; at most {MAX_MEMBERS} are accepted')


def most_members(group: Group) -> int:
    """The maximum number of members of the group."""
    templates = {each.name for each in group.templates}
    return sum(
        each.bounds.most if each.bounds else len(each.server_names())
        for each in group.members) + sum(
            most_members(each) for each in group.groups
            if each.stem not in templates) + sum(
                each.bounds.most * most_members(each)
                for each in group.templates if each.bounds)


def check_members(group: Group) -> None:
    """Check the number of members and the length of their paths."""
    if not group.all_members():
        raise InvalidDocument(
            next(_zeros(group), ''),
            'the desired number of members is 0; it must be at least 1')
    total = most_members(group)
    if total > MAX_MEMBERS:
        raise InvalidDocument(
            '', f'{total} members; at most {MAX_MEMBERS} are accepted')
    _check_paths(group, '')


def _zeros(group: Group) -> Iterator[str]:
    """Positions of the desired numbers that are 0."""
    for part in (*group.members, *group.templates):
        if part.bounds and not part.bounds.desired:
            yield join(part.place, 'count', 'desired')
    for nested in group.groups:
        yield from _zeros(nested)


def _check_paths(group: Group, prefix: str) -> None:
    for description in group.members:
        longest = max((len(name) for name in _longest(description)))
        if len(prefix) + longest > MAX_PATH:
            raise InvalidDocument(
                join(description.place, 'name'),
                f'the path is longer than {MAX_PATH} characters')
    for nested in group.groups:
        _check_paths(nested, f'{prefix}{nested.name}/')
    for template in group.templates:
        if template.bounds:
            _check_paths(
                template, f'{prefix}{template.name}-{template.bounds.most}/')


def _longest(description: MemberDescription) -> Collection[str]:
    if description.bounds:
        return [f'{description.name}-{description.bounds.most}']
    return description.server_names()[-1:]
