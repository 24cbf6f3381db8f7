# SPDX-License-Identifier: Apache-2.0
"""Add members to group documents; the other parts remain unchanged.

All keys and lists keep their order, so that adding and then removing a member
results in the same document. An empty list of members equals a missing one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.groups.bounds import (
    must_have_number, with_numbers)
from nova_holistic.documents.groups.document_parts import (
    below, Document, index, missing_group, top)
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

_NUMBERS = ('count', 'skip')
"""Keys of a member with the number and names of its servers."""


def with_members(document: Mapping[str, Any],
                 descriptions: Sequence[Mapping[str, Any]],
                 places: SourcePlaces | None = None) -> Document:
    """The document with more servers.

    A description as in a group document, with the additional key ``group``,
    the path of its nested group. A description with a new name is added at the
    end. If it names an existing counted member, it adds the number of servers
    in its count, or one if it has none: its other keys must be equal to those
    of the member, or absent. A count with min, desired or max changes these
    numbers of an existing member, or of an existing nested group.

    :param places: receives the position in the descriptions of each part of
        the document that they add or change
    :raises InvalidDocument: at its position in the descriptions, as
        ``members[0].name``; mistakes within a description are left to the
        parser of the whole document
    """
    outermost = top(document)
    groups = _groups(outermost, '', '')
    rosters: dict[str, _MemberList] = {}
    for i, description in enumerate(descriptions):
        place = join('members', i)
        path, added = _addressed(description, place)
        if path not in groups:
            raise InvalidDocument(join(place, 'group'),
                                  missing_group(outermost, path))
        if path not in rosters:
            rosters[path] = _MemberList(*groups[path])
        changed_part = rosters[path].add(added, place)
        if places is not None:
            places.add(changed_part, place)
    changed = _with_members(outermost, '', rosters)
    return {**document, 'group': changed} if 'group' in document else changed


def _groups(group: Mapping[str, Any], path: str, place: str
            ) -> dict[str, tuple[Mapping[str, Any], str]]:
    """This group and its nested groups by path, with their positions."""
    found = {path: (group, place)}
    for i, nested in enumerate(group.get('groups', ())):
        found.update(_groups(nested, below(path, nested['name']),
                             join(place, 'groups', i)))
    return found


def _addressed(description: Mapping[str, Any],
               place: str) -> tuple[str, Document]:
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
                  rosters: Mapping[str, '_MemberList']) -> Document:
    changed = dict(group)
    if path in rosters:
        changed['members'] = rosters[path].members
        if not changed['members'] and 'members' not in group:
            del changed['members']
    if group.get('groups'):
        nested_groups = (rosters[path].groups if path in rosters
                         else group['groups'])
        changed['groups'] = [
            _with_members(nested, below(path, nested['name']), rosters)
            for nested in nested_groups]
    return changed


class _MemberList:
    """Members of one group, found by name, because one request may add
    thousands.

    :ivar members: in their order
    """

    def __init__(self, group: Mapping[str, Any], place: str):
        self._place = place
        self.members: list[Document] = list(group.get('members', ()))
        self.groups: list[Document] = list(group.get('groups', ()))
        self._at = {member['name']: i
                    for i, member in enumerate(self.members)}

    def add(self, added: Document, place: str) -> str:
        """The position of the part that is added or changed.

        :raises InvalidDocument: the member exists with another description
        """
        name = added.get('name')
        # The value is not checked yet.
        named = isinstance(name, str)
        if named and name in self._at:
            at = self._at[name]
            self.members[at] = _more(self.members[at], added, place)
            return join(self._place, 'members', at)
        group = index(self.groups, name) if named else None
        if group is not None and added.keys() == {'name', 'count'}:
            self.groups[group] = _more(self.groups[group], added, place)
            return join(self._place, 'groups', group)
        if named:
            self._at[name] = len(self.members)
        self.members.append(added)
        return join(self._place, 'members', len(self.members) - 1)


def _more(known: Document, added: Mapping[str, Any],
          place: str) -> Document:
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


def _rescaled(known: Document, added: Mapping[str, Any],
              place: str) -> Document:
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
    if not added['count']:
        raise InvalidDocument(
            join(place, 'count'), 'must have at least one of min, desired and '
            'max')
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
