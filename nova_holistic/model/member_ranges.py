# SPDX-License-Identifier: Apache-2.0
"""A path means members that follow one another in document order: those of a
nested group, of one description, or a single one."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nova_holistic.model.member import Member

if TYPE_CHECKING:
    from nova_holistic.model.group import Group


def member_ranges(members: Sequence[Member]) -> dict[str, slice]:
    """Each path above and of the members to those that it means."""
    found: dict[str, slice] = {}
    for number, member in enumerate(members):
        names = member.path.split('/')
        paths = {'/'.join(names[:depth]) for depth in range(1, len(names) + 1)}
        for path in paths | {member.description}:
            start = found[path].start if path in found else number
            found[path] = slice(start, number + 1)
    return found


def with_replicas(found: dict[str, slice], group: 'Group',
                  prefix: str = '') -> dict[str, slice]:
    """The ranges, and those of all replicas of each group together.

    :param found: of the members of the group, by their paths
    :param group: the group, or one nested in it
    :param prefix: of paths below the group
    """
    whole = dict(found)
    for stem, path in _replicas(group, prefix):
        if path in found:
            known = whole.get(stem, found[path])
            whole[stem] = slice(min(known.start, found[path].start),
                                max(known.stop, found[path].stop))
    return whole


def _replicas(group: 'Group', prefix: str) -> Iterator[tuple[str, str]]:
    """The path of all replicas, and of one, for each replica."""
    for nested in group.groups:
        path = prefix + nested.name
        if nested.stem:
            yield prefix + nested.stem, path
        yield from _replicas(nested, path + '/')
