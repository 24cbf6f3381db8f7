# SPDX-License-Identifier: Apache-2.0
"""Add members to group documents, or remove some; the other parts remain
unchanged.

All keys and lists keep their order, so that adding and then removing a member
results in the same document. An empty list of members equals a missing one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nova_holistic.documents.groups.bounds import (
    must_have_number, with_numbers)
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.members.bounds import numbered

_Document = dict[str, Any]
_NUMBERS = ('count', 'skip')
"""Keys of a member with the number and names of its servers."""


def with_members(document: Mapping[str, Any],
                 descriptions: Sequence[Mapping[str, Any]]) -> _Document:
    """The document with more servers.

    A description as in a group document, with the additional key ``group``,
    the path of its nested group. A description with a new name is added at the
    end. If it names an existing counted member, it adds the number of servers
    in its count, or one if it has none: its other keys must be equal to those
    of the member, or absent. A count with min, desired or max changes these
    numbers of an existing member, or of an existing nested group.

    :raises InvalidDocument: at its position in the descriptions, as
        ``members[0].name``; mistakes within a description are left to the
        parser of the whole document
    """
    top = _top(document)
    groups, rosters = _groups(top, ''), dict[str, _MemberList]()
    for i, description in enumerate(descriptions):
        place = join('members', i)
        path, added = _addressed(description, place)
        if path not in groups:
            raise InvalidDocument(join(place, 'group'),
                                  f'there is no group {brief(path)}')
        if path not in rosters:
            rosters[path] = _MemberList(groups[path])
        rosters[path].add(added, place)
    changed = _with_members(top, '', rosters)
    return {**document, 'group': changed} if 'group' in document else changed


def without_member(document: Mapping[str, Any], path: str) -> _Document:
    """The document without a member, or without one server of a counted one.

    The last server of a counted member is removed by a lower ``count``, and
    another one by an entry in ``skip``, so that no other server changes its
    name. A group keeps at least one member.

    :raises InvalidDocument: the group has no such member, or it is the only
        one of its group
    """
    *groups, name = path.split('/')
    return _changed(
        document, groups, lambda group: _left(group, name, path), '')


def changed_rules(before: Mapping[str, Any],
                  after: Mapping[str, Any]) -> frozenset[str]:
    """Paths of groups whose own policies or relationships differ from those in
    the previous document; '' is the top-level group."""
    old, new = _rules(_top(before), ''), _rules(_top(after), '')
    return frozenset(path for path in old.keys() | new.keys()
                     if old.get(path, ([], [])) != new.get(path, ([], [])))


def _top(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return document.get('group', document)


def _rules(group: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = {path: (list(group.get('policies', ())),
                    list(group.get('relationships', ())))}
    for nested in group.get('groups', ()):
        found.update(_rules(nested, _below(path, nested['name'])))
    return found


def _groups(group: Mapping[str, Any], path: str) -> _Document:
    """This group and its nested groups by path."""
    found: _Document = {path: group}
    for nested in group.get('groups', ()):
        found.update(_groups(nested, _below(path, nested['name'])))
    return found


def _below(path: str, name: str) -> str:
    return f'{path}/{name}'.lstrip('/')


def _addressed(description: Mapping[str, Any],
               place: str) -> tuple[str, _Document]:
    """The group of a description, and its path there."""
    if not isinstance(description, Mapping):
        raise InvalidDocument(
            place, f'must be a mapping, not {brief(description)}')
    path = description.get('group', '')
    if not isinstance(path, str):
        raise InvalidDocument(
            join(place, 'group'), f'must be text, not {brief(path)}')
    return path, {key: value for key, value in description.items()
                  if key != 'group'}


def _with_members(group: Mapping[str, Any], path: str,
                  rosters: Mapping[str, '_MemberList']) -> _Document:
    changed = dict(group)
    if path in rosters:
        changed['members'] = rosters[path].members
        if not changed['members'] and 'members' not in group:
            del changed['members']
    if group.get('groups'):
        nested_groups = (rosters[path].groups if path in rosters
                         else group['groups'])
        changed['groups'] = [
            _with_members(nested, _below(path, nested['name']), rosters)
            for nested in nested_groups]
    return changed


class _MemberList:
    """Members of one group, found by name, because one request may add
    thousands.

    :ivar members: in their order
    """

    def __init__(self, group: Mapping[str, Any]):
        self.members: list[_Document] = list(group.get('members', ()))
        self.groups: list[_Document] = list(group.get('groups', ()))
        self._at = {member['name']: i
                    for i, member in enumerate(self.members)}

    def add(self, added: _Document, place: str) -> None:
        """:raises InvalidDocument: the member exists with another description
        """
        name = added.get('name')
        # The value is not checked yet.
        named = isinstance(name, str)
        if named and name in self._at:
            at = self._at[name]
            self.members[at] = _more(self.members[at], added, place)
            return
        group = _index(self.groups, name) if named else None
        if group is not None and added.keys() == {'name', 'count'}:
            self.groups[group] = _more(self.groups[group], added, place)
            return
        if named:
            self._at[name] = len(self.members)
        self.members.append(added)


def _changed(document: Mapping[str, Any], names: Sequence[str],
             change: Callable[[Mapping[str, Any]], _Document],
             place: str) -> _Document:
    """The document with one of its groups changed.

    :param names: of that group and of those that it is nested in, from below
        the top
    :param place: position for the error if the group does not exist
    """
    if 'group' in document:
        return {**document, 'group': _changed(
            document['group'], names, change, place)}
    if not names:
        return change(document)
    nested = list(document.get('groups', ()))
    at = _index(nested, names[0])
    if at is None:
        raise InvalidDocument(place, f'there is no group {brief(names[0])}')
    nested[at] = _changed(nested[at], names[1:], change, place)
    return {**document, 'groups': nested}


def _index(parts: Sequence[Mapping[str, Any]], name: str) -> int | None:
    return next((i for i, part in enumerate(parts)
                 if part['name'] == name), None)


def _more(known: _Document, added: Mapping[str, Any],
          place: str) -> _Document:
    """A counted member with additional servers, as many as the description
    adds."""
    # The known member may be one of the same request.
    must_have_number(known.get('count', 1), join(place, 'count'))
    if isinstance(added.get('count'), Mapping):
        return _rescaled(known, added, place)
    if 'count' not in known:
        raise InvalidDocument(
            join(place, 'name'),
            f'{brief(known["name"])} is already a member, and not a counted '
            f'one')
    differing_keys = _what(added)
    if len(differing_keys) > 1 and differing_keys != _what(known):
        raise InvalidDocument(
            join(place, 'name'),
            f'{brief(known["name"])} is already a member with another '
            f'description')
    if 'skip' in added:
        raise InvalidDocument(
            join(place, 'skip'), f'{brief(known["name"])} is already a '
            f'member; servers that are added to it cannot be skipped')
    if isinstance(known['count'], Mapping):
        desired = known['count']['desired'] + _count(added, place)
        return {**known, 'count': with_numbers(
            known['count'], {'desired': desired})}
    return {**known,
            'count': _count(known, place) + _count(added, place)}


def _rescaled(known: _Document, added: Mapping[str, Any],
              place: str) -> _Document:
    """A member, or a nested group, whose number may change from now on."""
    differing_keys = _what(added)
    if len(differing_keys) > 1 and differing_keys != _what(known):
        raise InvalidDocument(
            join(place, 'name'), f'{brief(known["name"])} already exists with '
            f'another description')
    if 'count' not in known or known.get('skip'):
        raise InvalidDocument(
            join(place, 'name'), f'the number of {brief(known["name"])} '
            f'cannot be changed: it has no count, or skips some servers')
    return {**known, 'count': with_numbers(known['count'], added['count'])}


def _count(added: Mapping[str, Any], place: str) -> int:
    count = added.get('count', 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidDocument(
            join(place, 'count'), 'must be a whole number, at least 1')
    return count


def _what(description: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in description.items()
            if key not in _NUMBERS}


def _left(group: Mapping[str, Any], name: str, path: str) -> _Document:
    members: list[_Document] = []
    found = False
    for member in group.get('members', ()):
        rest = _rest(member, name)
        found = found or rest is not member
        if rest is not None:
            members.append(rest)
    if not found:
        raise InvalidDocument('', f'there is no member {brief(path)}')
    if not members and not group.get('groups'):
        raise InvalidDocument(
            '', f'{brief(path)} is the last member of its group, and '
            f'a group must have a member')
    rest = {**group, 'members': members}
    if not members:
        del rest['members']
    return rest


def _rest(member: _Document, name: str) -> _Document | None:
    """The member without the server of that name: unchanged if it has no such
    server."""
    if member['name'] == name:
        return None
    if isinstance(member.get('count'), Mapping):
        if numbered(member['name'], name) is not None:
            raise InvalidDocument(
                '', f'the number of {brief(member["name"])} may change: set '
                f'its desired number instead')
        return member
    number = _number(member, name)
    if number is None:
        return member
    skipped = member.get('skip', [])
    if member['count'] - len(skipped) == 1:
        return None
    if number == member['count'] - 1:
        return {**member, 'count': number}
    return {**member, 'skip': [*skipped, number]}


def _number(member: _Document, name: str) -> int | None:
    """The number of the server with that name in a counted member."""
    stem, dash, number = name.rpartition('-')
    if (stem != member['name'] or not dash or not number.isdecimal()
            or not number.isascii() or str(int(number[:9])) != number
            or int(number) >= member.get('count', 0)
            or int(number) in member.get('skip', ())):
        return None
    return int(number)
