# SPDX-License-Identifier: Apache-2.0
"""Members whose numbers of servers a resource of Heat changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.heat.group_revision import change, must_be_planned


@dataclass(frozen=True, slots=True)
class CountedMembers:
    """Members that each have as many servers as the resource has units.

    :ivar group: UUID
    :ivar paths: of the members, without an index
    """

    group: str
    paths: tuple[str, ...]

    def plan(self, client: Client, number: int) -> bool:
        """Let each member have this number of servers.

        Existing servers stay where they are. The places of a smaller number
        are freed when Heat deletes the servers.

        :returns: whether a member has a larger number than before
        :raises GroupUnchanged: there is no plan for this number of servers
        """
        if number < 1:
            # A member has at least one place; its lease ends.
            return False
        groups = client.groups
        definition = groups.wait(self.group)['definition']
        changed = [path for path in self.paths
                   if desired(definition, path) != number]
        if not changed:
            return False
        revised = change(groups, self.group, lambda _: groups.add_members(
            # With a smaller minimum, an engine would plan a part of the step.
            self.group, [in_group(path, {'count': {
                'min': number, 'desired': number}}) for path in changed]))
        must_be_planned(revised, all(
            desired(revised['definition'], path) == number
            for path in changed))
        return any((desired(definition, path) or 0) < number
                   for path in changed)


def in_group(path: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a member, as the API adds it to a group."""
    around, _, name = path.rpartition('/')
    return {'name': name, **description, **({'group': around} if around
                                            else {})}


def counted_below(definition: Mapping[str, Any],
                  path: str) -> Iterator[str]:
    """The paths of the counted members directly inside a nested group."""
    for member in nested_group(definition, path).get('members') or ():
        if 'count' in member:
            yield f'{path}/{member["name"]}'


def member_paths(definition: Mapping[str, Any],
                 base: str = '') -> Iterator[str]:
    """The paths of all descriptions of members."""
    for member in definition.get('members') or ():
        yield base + member['name']
    for group in definition.get('groups') or ():
        yield from member_paths(group, f'{base}{group["name"]}/')


def desired(definition: Mapping[str, Any], path: str) -> int | None:
    """The desired number of servers of a counted member."""
    around, _, name = path.rpartition('/')
    count = _part_named(
        nested_group(definition, around).get('members'), name).get('count')
    return count.get('desired') if isinstance(count, Mapping) else count


def nested_group(definition: Mapping[str, Any],
                 path: str) -> Mapping[str, Any]:
    """The nested group of a path; empty if it does not exist."""
    for name in filter(None, path.split('/')):
        definition = _part_named(definition.get('groups'), name)
    return definition


def _part_named(parts: Iterable[Mapping[str, Any]] | None,
                name: str) -> Mapping[str, Any]:
    return next((part for part in parts or () if part['name'] == name), {})
