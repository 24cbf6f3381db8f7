# SPDX-License-Identifier: Apache-2.0
"""Existing servers that a group document adopts as members.

The key ``adopt`` is a request and not part of the definition. An engine
removes it from the document when the servers are members.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.elastic.counts import counts
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import numbered

KEY = 'adopt'


def adoptions(document: Any) -> Mapping[str, str]:
    """The UUIDs of the servers to adopt, by the paths of their members.

    :param document: a valid group document, with or without its outer key
    """
    return FrozenMapping({path: uuid.lower() for path, uuid
                          in _top(document).get(KEY, {}).items()})


def position(path: str) -> str:
    """The position of a member in the list of adopted servers."""
    return join(KEY, path)


def with_adoptions(document: Mapping[str, Any],
                   servers: Mapping[str, str]) -> dict[str, Any]:
    """The document that adopts these servers, and no others."""
    rest = without_adoptions(document)
    if 'group' in rest:
        return {**rest, 'group': {**rest['group'], KEY: dict(servers)}}
    return {**rest, KEY: dict(servers)}


def without_adoptions(document: Mapping[str, Any]) -> dict[str, Any]:
    """The definition alone."""
    if 'group' in document:
        return {**document, 'group': without_adoptions(document['group'])}
    return {key: value for key, value in document.items() if key != KEY}


def without_adoptions_of(document: Mapping[str, Any], path: str,
                         counted: bool) -> dict[str, Any]:
    """The document that adopts no server as the member.

    :param path: path of a member
    :param counted: whether it has a count; its servers have other paths then
    """
    servers = _top(document).get(KEY, {})
    rest = {each: uuid for each, uuid in servers.items() if each != path
            and not (counted and numbered(path, each) is not None)}
    if rest == servers:
        return {**document}
    return with_adoptions(document, rest) if rest else without_adoptions(
        document)


def must_not_adopt(document: Any, why: str = 'a plan without holds does not '
                   'read existing servers and cannot adopt them') -> None:
    """
    :raises InvalidDocument: the document adopts servers, and the caller cannot
        read servers
    """
    if isinstance(document, dict) and KEY in _top(document):
        raise InvalidDocument(KEY, why)


def check_adoptions(document: Mapping[str, Any], group: Group,
                    mistakes: Mistakes) -> None:
    """Check the key of the top-level group, and that no other group has it.

    :param document: a document without its outer key that matches the schema
    :param group: its parts that can be accepted
    :param mistakes: receives the mistakes; if other parts of the document are
        wrong, the paths of members are not checked
    """
    complete = not mistakes
    for place in _nested(document, ''):
        mistakes.add(InvalidDocument(
            join(place, KEY), 'only the top-level group adopts servers'))
    paths: dict[str, str] = {}
    for path, uuid in adoptions(document).items():
        if uuid in paths:
            mistakes.add(InvalidDocument(
                position(path),
                f'server {uuid} is adopted as {brief(paths[uuid])} already'))
        paths.setdefault(uuid, path)
    if complete:
        _check_paths([*paths.values()], group, mistakes)


def must_be_allowed(group: Group, paths: Collection[str],
                    live: Collection[str]) -> None:
    """Check the maximum of the members, and nested groups, whose number may
    change.

    :param group: the group as its document describes it
    :param paths: paths of the servers that are adopted
    :param live: paths of these and all other servers after the adoption
    :raises InvalidDocument: with all mistakes
    """
    mistakes = Mistakes()
    for each in counts(group, live):
        if each.number > each.bounds.most:
            adopted = [path for path in paths
                       if path.startswith((f'{each.path}-', f'{each.path}/'))]
            if adopted:
                mistakes.add(InvalidDocument(
                    position(max(adopted)), f'{brief(each.path)} would exist '
                    f'{each.number} times, and its maximum is '
                    f'{each.bounds.most}'))
    mistakes.must_be_none()


def _check_paths(paths, group: Group, mistakes: Mistakes) -> None:
    """Members whose number may change exist up to their maximum."""
    members = group.resized(paths).all_members()
    known = {member.path for member in (*members, *group.all_members())}
    counted: dict[str, str] = {}
    for member in (*group.all_members(), *members):
        counted.setdefault(member.description, member.path)
    for path in paths:
        if path in known:
            continue
        message = f'there is no member {brief(path)}'
        if path in counted:
            message = (f'{brief(path)} has a count: name one of its servers, '
                       f'such as {brief(counted[path])}')
        mistakes.add(InvalidDocument(position(path), message))
    with mistakes.collected():
        must_be_allowed(group, paths, known.intersection(paths))


def _nested(document: Mapping[str, Any], place: str) -> Iterator[str]:
    """Positions of nested groups with the key."""
    for number, group in enumerate(document.get('groups', ())):
        if group is not None:
            nested = join(place, 'groups', number)
            if KEY in group:
                yield nested
            yield from _nested(group, nested)


def _top(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = document.get('group', document)
    return found if isinstance(found, dict) else {}
