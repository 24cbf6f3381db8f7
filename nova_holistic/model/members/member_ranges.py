# SPDX-License-Identifier: Apache-2.0
"""A path stands for consecutive members in document order: those of a nested
group, those of one description, or a single member."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nova_holistic.model.members.member import Member

if TYPE_CHECKING:
    from nova_holistic.model.group import Group


def member_ranges(members: Sequence[Member]) -> dict[str, slice]:
    """Each path above the members, and the range of its members."""
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

    :param found: ranges of the members of the group by their paths
    :param group: the group or one of its nested groups
    :param prefix: prefix of the paths below the group
    """
    whole = dict(found)
    for stem, path in _replicas(group, prefix):
        if path in found:
            known = whole.get(stem, found[path])
            whole[stem] = slice(min(known.start, found[path].start),
                                max(known.stop, found[path].stop))
    return whole


def _replicas(group: 'Group', prefix: str) -> Iterator[tuple[str, str]]:
    """The path of all replicas, and the path of each replica."""
    for nested in group.groups:
        path = prefix + nested.name
        if nested.stem:
            yield prefix + nested.stem, path
        yield from _replicas(nested, path + '/')
