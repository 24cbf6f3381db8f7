# SPDX-License-Identifier: Apache-2.0
"""Members of the servers of an OS::Heat::ResourceGroup."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.heat.group_revision import change, must_be_planned
from nova_holistic.heat.members.counted_members import (
    CountedMembers, desired, in_group, member_paths)
from nova_holistic.heat.templates import template_servers


@dataclass(frozen=True, slots=True)
class IndexedMembers:
    """
    :ivar group: UUID
    :ivar path: of each member, with the variable if it has an index
    :ivar variable: text that Heat replaces by the name of a server
    :ivar server: properties of each server, with the variable
    """

    group: str
    path: str
    variable: str
    server: Mapping[str, Any]

    def plan(self, client: Client, names: Sequence[str]) -> bool:
        """Plan the members that the group does not have yet. All other
        members stay where they are.

        :param names: of all servers
        :returns: whether members were added
        :raises GroupUnchanged: there is no plan for all of them
        """
        definition = client.groups.wait(self.group)['definition']
        counted = self._counted(definition)
        if counted is not None:
            return len(names) > (desired(definition, counted) or 0) and (
                CountedMembers(self.group, (counted,)).plan(
                    client, len(names)))
        existing = set(member_paths(definition))
        added = [name for name in names if self._of(name) not in existing]
        if not added:
            return False
        revised = change(
            client.groups, self.group,
            lambda _: client.groups.add_members(self.group, [
                in_group(self._of(name), self._description(name))
                for name in added]))
        must_be_planned(revised, set(map(self._of, added)) <= set(
            member_paths(revised['definition'])))
        return True

    def free(self, client: Client, number: int,
             removed: Sequence[str]) -> None:
        """Free the members of deleted servers.

        :param number: of servers that are left
        :param removed: names of the deleted servers
        """
        definition = client.groups.wait(self.group)['definition']
        counted = self._counted(definition)
        if counted is not None:
            if number < (desired(definition, counted) or 0):
                CountedMembers(self.group, (counted,)).plan(client, number)
            return
        existing = set(member_paths(definition))
        for path in map(self._of, removed):
            if path in existing:
                change(client.groups, self.group,
                       lambda _, path=path: client.groups.remove_member(
                           self.group, path))

    def _of(self, name: str) -> str:
        return self.path.replace(self.variable, name)

    def _counted(self, definition: Mapping[str, Any]) -> str | None:
        """The path of the counted member to which all servers belong."""
        path = self.path.removesuffix(f'-{self.variable}')
        if self.variable in path or desired(definition, path) is None:
            return None
        return path

    def _description(self, name: str) -> dict[str, Any]:
        description = template_servers.description(self.server, ())
        return {key: value.replace(self.variable, name)
                if isinstance(value, str) else value
                for key, value in description.items()}
