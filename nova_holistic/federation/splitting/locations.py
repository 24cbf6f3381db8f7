# SPDX-License-Identifier: Apache-2.0
"""Determines the clouds that the locations in a document allow."""

from collections.abc import Collection, Sequence

from nova_holistic.documents.validation import join, listed
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import Document
from nova_holistic.model.group import Group
from nova_holistic.model.messages.suggestion import did_you_mean


def allowed_clouds(group: Group, clouds: Collection[str],
                   ) -> dict[str, frozenset[str]]:
    """Path of each member to the clouds that its hard locations allow.

    :param clouds: names of all children
    :raises InvalidDocument: a location begins with an unknown cloud
    """
    found: dict[str, frozenset[str]] = {}
    _collect(group, '', frozenset(clouds), frozenset(clouds), found)
    return found


def named_clouds(document: Document) -> frozenset[str]:
    """The clouds that the locations of a document name. A cloud of a document
    that was accepted earlier may no longer be a child."""
    locations = [
        each[key] for kind, key in (('policies', 'path'),
                                    ('members', 'location'))
        for each in document.get(kind, ()) if key in each]
    return frozenset(each.partition('/')[0] for each in locations).union(
        *map(named_clouds, document.get('groups', ())))


def _collect(group: Group, prefix: str, here: frozenset[str],
             clouds: frozenset[str],
             found: dict[str, frozenset[str]]) -> None:
    for policy in group.policies:
        if policy.type == 'location':
            vertex = _vertex(policy.path, join(policy.place, 'path'), clouds)
            if policy.hard:
                here &= vertex
    for description in group.members:
        own = here
        if description.requirements.location:
            own &= _vertex(description.requirements.location,
                           join(description.place, 'location'), clouds)
        for name in description.server_names():
            found[prefix + name] = own
    for nested in group.groups:
        _collect(nested, f'{prefix}{nested.name}/', here, clouds, found)


def _vertex(path: Sequence[str], place: str,
            clouds: frozenset[str]) -> frozenset[str]:
    if path[0] not in clouds:
        raise InvalidDocument(
            place, f'there is no cloud {path[0]!r}'
            f'{did_you_mean(path[0], clouds)}; known are {listed(clouds)}')
    return frozenset({path[0]})
