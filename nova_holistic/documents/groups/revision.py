# SPDX-License-Identifier: Apache-2.0
"""Remove members from group documents, and compare two documents of a group.
A removal leaves the other parts of the document unchanged.

All keys and lists keep their order, so that adding and then removing a member
results in the same document. An empty list of members equals a missing one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nova_holistic.documents.groups.adoption import without_adoptions_of
from nova_holistic.documents.groups.document_parts import (
    below, Document, index, missing_group, top)
from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.members.bounds import numbered


def without_member(document: Mapping[str, Any], path: str) -> Document:
    """The document without a member, or without one server of a counted one.

    The last server of a counted member is removed by a lower ``count``, and
    another one by an entry in ``skip``, so that no other server changes its
    name. A group keeps at least one member. The document no longer adopts a
    server as a removed member.

    :raises InvalidDocument: the document does not describe such a member, or
        it is the only one of its group
    """
    *groups, name = path.split('/')
    changed = _changed(
        document, groups, lambda group: _left(group, name, path),
        lambda: missing_group(document, '/'.join(groups)))
    return without_adoptions_of(
        changed, path, _is_counted(top(document), groups, name))


def describes_member(document: Mapping[str, Any], path: str) -> bool:
    """Whether the document describes a member at that path: also one without
    servers, whose desired number, or that of its nested group, is 0."""
    *groups, name = path.split('/')
    group = top(document)
    for each in groups:
        at = index(group.get('groups', ()), each)
        if at is None:
            return False
        group = group['groups'][at]
    return index(group.get('members', ()), name) is not None


def changed_rules(before: Mapping[str, Any],
                  after: Mapping[str, Any]) -> frozenset[str]:
    """Paths of groups whose own policies or relationships differ from those in
    the previous document; '' is the top-level group."""
    old, new = _rules(top(before), ''), _rules(top(after), '')
    return frozenset(path for path in old.keys() | new.keys()
                     if old.get(path, ([], [])) != new.get(path, ([], [])))


def unchanged_groups(before: Mapping[str, Any],
                     after: Mapping[str, Any]) -> frozenset[str]:
    """Paths in the document of nested groups that are the same as in the
    previous document, apart from their own ``count``."""
    old, new = _nested(top(before), ''), _nested(top(after), '')
    return frozenset(path for path, group in new.items()
                     if old.get(path) == group)


def _nested(group: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = {}
    for nested in group.get('groups', ()):
        place = below(path, nested['name'])
        found[place] = {key: value for key, value in nested.items()
                        if key != 'count'}
        found.update(_nested(nested, place))
    return found


def _rules(group: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = {path: (list(group.get('policies', ())),
                    list(group.get('relationships', ())))}
    for nested in group.get('groups', ()):
        found.update(_rules(nested, below(path, nested['name'])))
    return found


def _changed(document: Mapping[str, Any], names: Sequence[str],
             change: Callable[[Mapping[str, Any]], Document],
             why_missing: Callable[[], str]) -> Document:
    """The document with one of its groups changed.

    :param names: of that group and of those that it is nested in, from below
        the top
    :param why_missing: the message of the error if the document does not
        describe the group
    """
    if 'group' in document:
        return {**document, 'group': _changed(
            document['group'], names, change, why_missing)}
    if not names:
        return change(document)
    nested = list(document.get('groups', ()))
    at = index(nested, names[0])
    if at is None:
        raise InvalidDocument('', why_missing())
    nested[at] = _changed(nested[at], names[1:], change, why_missing)
    return {**document, 'groups': nested}


def _is_counted(group: Mapping[str, Any], names: Sequence[str],
                name: str) -> bool:
    """Whether the existing group of these names has a counted member of that
    name."""
    for each in names:
        group = group['groups'][index(group['groups'], each)]
    return any(member['name'] == name and 'count' in member
               for member in group.get('members', ()))


def _left(group: Mapping[str, Any], name: str, path: str) -> Document:
    members: list[Document] = []
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


def _rest(member: Document, name: str) -> Document | None:
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


def _number(member: Document, name: str) -> int | None:
    """The number of the server with that name in a counted member."""
    stem, dash, number = name.rpartition('-')
    if (stem != member['name'] or not dash or not number.isdecimal()
            or not number.isascii() or str(int(number[:9])) != number
            or int(number) >= member.get('count', 0)
            or int(number) in member.get('skip', ())):
        return None
    return int(number)
