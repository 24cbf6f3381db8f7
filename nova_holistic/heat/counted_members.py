# SPDX-License-Identifier: Apache-2.0
"""Members whose numbers of servers a resource of Heat changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.heat import api_client


@dataclass(frozen=True, slots=True)
class CountedMembers:
    """Members that each have as many servers as the resource has units.

    :ivar group: UUID
    :ivar paths: of the members, without an index
    """

    group: str
    paths: tuple[str, ...]

    def plan(self, client: Client, number: int) -> None:
        """Let each member have this number of servers.

        Existing servers stay where they are. The places of a smaller number
        are freed when Heat deletes the servers.

        :raises GroupUnchanged: there is no plan for this number of servers
        """
        if number < 1:
            # A member has at least one place; its lease ends.
            return
        groups = client.groups
        definition = groups.wait(self.group)['definition']
        changed = [path for path in self.paths
                   if desired(definition, path) != number]
        if not changed:
            return
        groups.add_members(self.group, [
            # With a smaller minimum, an engine would plan a part of the step.
            in_group(path, {'count': {'min': number, 'desired': number}})
            for path in changed])
        must_be_planned(groups.wait(self.group))


def must_be_planned(found: Mapping[str, Any]) -> None:
    """
    :param found: a group after a change
    :raises GroupUnchanged: there is no plan for the change
    """
    if found['reasons']:
        raise api_client.GroupUnchanged(reasons=api_client.reasons(found))


def in_group(path: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a member, as the API adds it to a group."""
    inside, _, name = path.rpartition('/')
    return {'name': name, **description, **({'group': inside} if inside
                                            else {})}


def counted_below(definition: Mapping[str, Any],
                  path: str) -> Iterator[str]:
    """The paths of the counted members directly inside a nested group."""
    for member in _inside(definition, path).get('members') or ():
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
    """How many servers of a counted member are planned."""
    inside, _, name = path.rpartition('/')
    count = _named(_inside(definition, inside).get('members'),
                   name).get('count')
    return count.get('desired') if isinstance(count, Mapping) else count


def _inside(definition: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    for name in filter(None, path.split('/')):
        definition = _named(definition.get('groups'), name)
    return definition


def _named(parts: Iterable[Mapping[str, Any]] | None,
           name: str) -> Mapping[str, Any]:
    return next((each for each in parts or () if each['name'] == name), {})
