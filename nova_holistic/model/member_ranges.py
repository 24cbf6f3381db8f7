# SPDX-License-Identifier: Apache-2.0
"""A path means members that follow one another in document order: those of a
nested group, of one description, or a single one."""

from collections.abc import Sequence

from nova_holistic.model.member import Member


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
