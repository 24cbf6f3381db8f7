# SPDX-License-Identifier: Apache-2.0
"""Classifies how an update changes the part of a group in one child."""

from collections.abc import Iterator, Mapping
import enum
from typing import Any

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups.revision import changed_rules
from nova_holistic.documents.servers.create_request import member_description
from nova_holistic.federation.child import Document
from nova_holistic.model.group import Group
from nova_holistic.model.policy_types import PolicyTypes

_NUMBERS = ('name', 'count', 'skip')


class PartChange(enum.Enum):
    """Kinds of changes, in the order in which they are made.

    ``NONE``: the members and rules of the part are the same; the child
    receives no request.
    ``ADDED``: the part only gains members. Its former definition can always
    be restored, because that only removes members.
    ``OTHER``: the child may refuse the change, and may be unable to restore
    the former definition after it.
    ``REMOVED``: the part only loses members, and no policy can be violated by
    that, so that the child cannot refuse the change.
    """

    NONE = 'none'
    ADDED = 'added'
    OTHER = 'other'
    REMOVED = 'removed'


def part_change(before: Document, after: Document,
                policy_types: PolicyTypes) -> PartChange:
    """The kind of change of a part.

    :param before: the document of the part in the child
    :param after: the new document of the part
    """
    if before == after:
        return PartChange.NONE
    old, new = (parse_group(each, policy_types) for each in (before, after))
    if old.is_elastic or new.is_elastic:
        return PartChange.OTHER
    paths = [{m.path for m in each.all_members()} for each in (old, new)]
    if changed_members(before, after, old, new) or _rules_change(
            before, after):
        return PartChange.OTHER
    gains, loses = paths[1] - paths[0], paths[0] - paths[1]
    if not gains and not loses and old.name == new.name:
        # Only the numbers of servers in other clouds differ.
        return PartChange.NONE
    if not loses:
        return PartChange.ADDED
    if gains or not _is_monotone(new):
        return PartChange.OTHER
    return PartChange.REMOVED


def changed_members(before: Document, after: Document, old: Group,
                    new: Group) -> list[str]:
    """Paths of the members of both groups with different descriptions."""
    known = {member.path for member in old.all_members()}
    return [member.path for member in new.all_members()
            if member.path in known and (
                _description(before, member.path)
                != _description(after, member.path))]


def _description(document: Document, path: str) -> Mapping[str, Any]:
    return {key: value for key, value
            in (member_description(document, path) or {}).items()
            if key not in _NUMBERS}


def _rules_change(before: Document, after: Document) -> bool:
    """Whether the rules of a group that both documents have change."""
    common = set(_groups(before)).intersection(_groups(after))
    return bool(changed_rules(before, after) & common)


def _groups(document: Document, path: str = '') -> Iterator[str]:
    yield path
    for nested in document.get('groups', ()):
        yield from _groups(
            nested, f'{path}/{nested["name"]}' if path else nested['name'])


def _is_monotone(group: Group) -> bool:
    return all(rule.monotone for scope in group.scopes()
               for rule in scope.group.rules if rule.hard)
