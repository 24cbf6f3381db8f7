# SPDX-License-Identifier: Apache-2.0
"""Members that a plan may leave out, because their number may change."""

from collections.abc import Iterator
from dataclasses import dataclass

from nova_holistic.model.group import Group


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that are planned together or not at all.

    :ivar path: path of one server or of a replica of a group
    :ivar kind: path in the document; units with the same path are equal
    :ivar members: paths of the members
    """

    path: str
    kind: str
    members: frozenset[str]


def optional_units(group: Group, path: str = '') -> Iterator[Unit]:
    """All units between the minimum and the desired number, in the order in
    which they are added to the minimum.

    :param path: path of the group
    """
    prefix = path + '/' if path else ''
    for description in group.members:
        if description.bounds:
            for name in description.server_names()[description.bounds.least:]:
                yield Unit(prefix + name, prefix + description.name,
                           frozenset([prefix + name]))
    least = {each.name: each.bounds.least for each in group.templates
             if each.bounds}
    made: dict[str, int] = dict.fromkeys(least, 0)
    for nested in group.groups:
        if nested.stem in least:
            made[nested.stem] += 1
            if made[nested.stem] > least[nested.stem]:
                yield _replica(nested, prefix)
                continue
        yield from optional_units(nested, prefix + nested.name)


def _replica(nested: Group, prefix: str) -> Unit:
    path = prefix + nested.name
    return Unit(path, prefix + nested.stem, frozenset(
        member.path for member in nested.all_members(path)))
