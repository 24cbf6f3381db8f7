# SPDX-License-Identifier: Apache-2.0
"""Members that a plan may leave out, because their number may change."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nova_holistic.model.group import Group, join_path


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that are planned together or not at all.

    :ivar path: path of one server, or of a replica of a group, which stands
        for the minimum of the replica
    :ivar kind: path in the document; units with the same path are equal
    :ivar members: paths of the members
    :ivar needs: path of the unit without which this one is not planned: an
        additional server of a replica needs the minimum of the replica
    """

    path: str
    kind: str
    members: frozenset[str]
    needs: str = ''


def optional_units(group: Group, placed: Collection[str] = (), path: str = '',
                   needs: str = '') -> Iterator[Unit]:
    """All units between the minimum and the desired number, in the order in
    which they are added to the minimum. A unit follows the unit that it
    needs.

    :param placed: paths of members that are not left out; they count towards
        the minimum before others
    :param path: path of the group
    :param needs: path of the unit that all units of the group need
    """
    for description in group.members:
        if description.bounds:
            paths = [join_path(path, name)
                     for name in description.server_names()]
            for each in _optional(
                    paths, [each in placed for each in paths],
                    description.bounds.least):
                yield Unit(each, join_path(path, description.name),
                           frozenset([each]), needs)
    # There may be hundreds of nested groups.
    below = _by_name(placed, path) if group.groups else {}
    optional = _optional_replicas(group, below.keys())
    for nested in group.groups:
        nested_path = join_path(path, nested.name)
        if nested.name not in optional:
            yield from optional_units(
                nested, below.get(nested.name, ()), nested_path, needs)
            continue
        least = _least(nested, nested_path)
        if least:
            yield Unit(nested_path, join_path(path, nested.stem), least, needs)
        yield from optional_units(nested, (), nested_path,
                                  nested_path if least else needs)


def _by_name(paths: Collection[str],
             path: str) -> Mapping[str, Collection[str]]:
    """The paths below a group, by the name of its member or nested group."""
    prefix = path + '/' if path else ''
    found: dict[str, set[str]] = defaultdict(set)
    for each in paths:
        if each.startswith(prefix):
            found[each[len(prefix):].partition('/')[0]].add(each)
    return found


def _optional_replicas(group: Group,
                       used: Collection[str]) -> Collection[str]:
    """Names of the replicas of nested groups that a plan may leave out.

    :param used: names of nested groups with a member that has a place
    """
    found: set[str] = set()
    for template in group.templates:
        if template.bounds:
            names = [nested.name for nested in group.groups
                     if nested.stem == template.name]
            found.update(_optional(names, [name in used for name in names],
                                   template.bounds.least))
    return found


def _optional(names: Collection[str], placed: Collection[bool],
              least: int) -> Iterator[str]:
    """The names without a place that exceed the minimum.

    :param placed: whether each name has a place
    """
    exceeding = max(0, len(names) - max(least, sum(placed)))
    free = [name for name, is_placed in zip(names, placed) if not is_placed]
    yield from free[len(free) - exceeding:]


def _least(replica: Group, path: str) -> frozenset[str]:
    """Paths of the members of the minimum of a replica."""
    return frozenset(
        member.path for member in replica.all_members(path)).difference(*(
            unit.members for unit in optional_units(replica, (), path)))
