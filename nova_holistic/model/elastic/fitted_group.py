# SPDX-License-Identifier: Apache-2.0
"""The servers of a revised group whose numbers may change."""

from collections.abc import Collection, Iterator

from nova_holistic.model.elastic.counts import names_below
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import Bounds, free_number, numbered
from nova_holistic.model.members.member import MemberDescription


def fitted(group: Group, used: Collection[str], planned: Collection[str],
           added: Collection[str] = ()) -> Group:
    """The group with all servers that exist, and with planned servers up to
    the desired number.

    Servers that are planned already are kept first. New servers get the lowest
    free numbers.

    :param group: the group as its document describes it
    :param used: paths of servers that exist
    :param planned: paths of servers that do not exist yet
    :param added: paths of servers that are planned in addition
    """
    if not group.is_elastic:
        return group
    return group.resized({
        *_paths(group, frozenset(used), frozenset(planned), ''), *added})


def _paths(group: Group, used: Collection[str], planned: Collection[str],
           prefix: str) -> Iterator[str]:
    for description in group.members:
        yield from (prefix + name for name in _servers(
            description, names_below(prefix, used),
            names_below(prefix, planned)))
    templates = {each.name for each in group.templates}
    for nested in group.groups:
        if nested.stem not in templates:
            yield from _paths(nested, used, planned,
                              f'{prefix}{nested.name}/')
    for template in group.templates:
        if template.bounds:
            for number in _chosen(
                    template.bounds,
                    _of(template.name, names_below(prefix, used)),
                    _of(template.name, names_below(prefix, planned))):
                yield from _whole(template.replica(number), used, planned,
                                  f'{prefix}{template.name}-{number}/')


def _whole(replica: Group, used: Collection[str], planned: Collection[str],
           prefix: str) -> Iterator[str]:
    """All paths of a replica. Members of a fixed number are included, because
    a create with one of their paths adds the replica."""
    yield from (prefix + member.path for member in replica.all_members()
                if not _is_numbered(replica, member.description))
    yield from _paths(replica, used, planned, prefix)


def _is_numbered(group: Group, description: str) -> bool:
    name, _, rest = description.partition('/')
    if rest:
        return any(each.name == name and _is_numbered(each, rest)
                   for each in group.groups)
    return any(each.name == name and each.bounds for each in group.members)


def _servers(description: MemberDescription, used: Collection[str],
             planned: Collection[str]) -> Iterator[str]:
    if description.bounds is None:
        return
    for number in _chosen(description.bounds, _of(description.name, used),
                          _of(description.name, planned)):
        yield f'{description.name}-{number}'


def _chosen(bounds: Bounds, used: set[int], planned: set[int]) -> set[int]:
    chosen = set(used)
    for number in sorted(planned - used):
        if len(chosen) >= bounds.desired:
            break
        chosen.add(number)
    while len(chosen) < bounds.desired:
        chosen.add(free_number(chosen))
    return chosen


def _of(stem: str, names: Collection[str]) -> set[int]:
    return {number for name in names
            if (number := numbered(stem, name)) is not None}
