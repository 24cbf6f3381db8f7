# SPDX-License-Identifier: Apache-2.0
"""Members that a plan may leave out, since their number may change."""

from collections.abc import Iterator
from dataclasses import dataclass

from nova_holistic.model.group import Group


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that are planned together or not at all.

    :ivar path: of one server, or of a replica of a group
    :ivar kind: path in the document; units of one kind are equal
    :ivar members: paths
    """

    path: str
    kind: str
    members: frozenset[str]


def optional_units(group: Group, path: str = '') -> Iterator[Unit]:
    """Everything between the least and the desired number, in the order in
    which it is added to the least number.

    :param path: of the group
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
