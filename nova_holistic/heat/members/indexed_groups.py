# SPDX-License-Identifier: Apache-2.0
"""Nested groups of the stacks of an OS::Heat::ResourceGroup."""

from collections.abc import Iterable, Mapping, Sequence
import copy
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.heat.group_revision import must_be_planned, revise
from nova_holistic.heat.members.counted_members import nested_group


@dataclass(frozen=True, slots=True)
class IndexedGroups:
    """
    :ivar group: UUID
    :ivar path: of each nested group, with the variable
    :ivar variable: text that Heat replaces by the name of a stack
    """

    group: str
    path: str
    variable: str

    def plan(self, client: Client, names: Sequence[str]) -> bool:
        """Add a nested group for each new stack: a copy of an existing one.
        All other members stay where they are.

        :param names: of all stacks
        :returns: whether nested groups were added
        :raises GroupUnchanged: there is no plan for all of them
        """
        definition = client.groups.wait(self.group)['definition']
        existing, missing = self._split(definition, names)
        if not existing or not missing:
            return False
        revised = revise(
            client.groups, self.group,
            lambda document: self._with(document, existing[0], missing))
        must_be_planned(
            revised, not self._split(revised['definition'], missing)[1])
        return True

    def free(self, client: Client, number: int,
             removed: Sequence[str]) -> None:
        """Free the members of deleted stacks.

        :param number: number of stacks that remain
        :param removed: names of the deleted stacks
        """
        definition = client.groups.wait(self.group)['definition']
        existing, _ = self._split(definition, removed)
        if not number:
            # One group remains, so that the next stack can get a copy of it.
            existing = existing[1:]
        if existing:
            revise(client.groups, self.group,
                   lambda document: self._without(document, existing))

    def _split(self, definition: Mapping[str, Any], names: Iterable[str]
               ) -> tuple[list[str], list[str]]:
        """The names whose nested groups exist, and the other names."""
        parts: tuple[list[str], list[str]] = [], []
        for name in names:
            exists = nested_group(definition, self._of(name))
            parts[0 if exists else 1].append(name)
        return parts

    def _with(self, document: Mapping[str, Any], model: str,
              names: Iterable[str]) -> dict[str, Any]:
        document = copy.deepcopy(dict(document))
        for name in names:
            around, own = self._parts(name)
            nested_group(document, around)['groups'].append({
                **copy.deepcopy(nested_group(document, self._of(model))),
                'name': own})
        return document

    def _without(self, document: Mapping[str, Any],
                 names: Iterable[str]) -> dict[str, Any]:
        document = copy.deepcopy(dict(document))
        for name in names:
            around, own = self._parts(name)
            group = nested_group(document, around)
            group['groups'] = [each for each in group['groups']
                               if each['name'] != own]
        return document

    def _of(self, name: str) -> str:
        return self.path.replace(self.variable, name)

    def _parts(self, name: str) -> tuple[str, str]:
        """The path of the group around a nested group, and its own name."""
        around, _, own = self._of(name).rpartition('/')
        return around, own
