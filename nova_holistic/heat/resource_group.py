# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::ResourceGroup, whose servers may be members of a group.

It replaces the class of Heat. A resource group behaves as before if its
servers have no pointers to members, and if it does not give a group and a path
to its nested stacks.
"""

from collections.abc import Mapping, Sequence
import itertools
from typing import Any

from heat.common import grouputils
from heat.engine import properties
from heat.engine import resource
from heat.engine.resources.openstack.heat import resource_group

from nova_holistic.documents.hot.split import PATH_PARAMETER
from nova_holistic.heat import api_client
from nova_holistic.heat.members.indexed_groups import IndexedGroups
from nova_holistic.heat.members.indexed_members import IndexedMembers
from nova_holistic.heat.members import step_lease
from nova_holistic.heat.templates.stack_types import StackTypes
from nova_holistic.heat.templates.template_servers import (
    GROUP_HINT, HINTS, MEMBER_HINT, RESOURCE_GROUP, SERVER)


class ResourceGroup(resource_group.ResourceGroup):
    """The capacity of new servers is planned before Heat creates them, and
    the capacity of deleted servers is free afterwards."""

    _removed: Sequence[str] = ()
    """Names of the servers that an update deletes."""

    def handle_create(self) -> Any:
        self._plan(self.properties, list(self._resource_names()))
        return super().handle_create()

    def handle_update(self, json_snippet: Any, tmpl_diff: Any,
                      prop_diff: Mapping[str, Any]) -> Any:
        updated = json_snippet.properties(
            self.properties_schema, self.context)
        before = list(self._resource_names())
        rolling = json_snippet.update_policy(
            self.update_policy_schema, self.context)[self.ROLLING_UPDATE]
        needed = self._names_after(updated, rolling if self.res_def_changed(
            prop_diff) else None)
        self._plan(updated, needed)
        checkers = super().handle_update(json_snippet, tmpl_diff, prop_diff)
        after = set(self._resource_names())
        self._removed = [name for name in dict.fromkeys([*before, *needed])
                         if name not in after]
        return checkers

    def check_update_complete(self, checkers: Any) -> bool:
        complete = super().check_update_complete(checkers)
        if complete and self._removed:
            members = self._members(self.properties)
            if members is not None:
                members.free(api_client.client(self.context),
                             self.get_size(), self._removed)
        return complete

    def _names_after(self, values: properties.Properties,
                     rolling: Mapping[str, int] | None) -> list[str]:
        """The names of all servers that exist during or after an update.

        Heat records which names it skips only when the update begins.

        :param values: the properties after the update
        :param rolling: how the update replaces servers, if it does
        """
        recorded = set(self._current_skiplist())
        skipped = set(self._get_new_skiplist_entries(values, recorded))
        if values[self.REMOVAL_POLICIES_MODE] != self.REMOVAL_POLICY_UPDATE:
            skipped |= recorded
        number = values[self.COUNT]
        if rolling:
            existing = grouputils.GroupInspector.from_parent_resource(self)
            # Heat adds servers first if many must remain in service.
            number = max([number, *(size for size, _ in self._get_batches(
                number, len(set(existing.member_names(
                    include_failed=True)) - skipped),
                rolling[self.MAX_BATCH_SIZE], rolling[self.MIN_IN_SERVICE]))])
        return list(itertools.islice((
            name for name in map(str, itertools.count())
            if name not in skipped), number))

    def _plan(self, values: properties.Properties,
              names: Sequence[str]) -> None:
        """:param names: of the servers"""
        members = self._members(values)
        if members is None:
            return
        client = api_client.client(self.context)
        if members.plan(client, names):
            step_lease.hold(client.groups, members.group,
                            self.stack.timeout_secs())

    def _members(self, values: properties.Properties
                 ) -> IndexedMembers | IndexedGroups | None:
        """The members, or the nested groups, to which the servers belong."""
        definition = values[self.RESOURCE_DEF]
        server = definition[self.RESOURCE_DEF_PROPERTIES] or {}
        kind = definition[self.RESOURCE_DEF_TYPE]
        # A template that replaces the type of servers receives their hints.
        if SERVER not in (kind, StackTypes(self.stack.env).resolved(
                kind, '', '')):
            group, path = map(server.get, (GROUP_HINT, PATH_PARAMETER))
            return IndexedGroups(group, path, values[self.INDEX_VAR]) if (
                group and path) else None
        hints = server.get(HINTS)
        if not isinstance(hints, Mapping) or not (
                hints.get(GROUP_HINT) and hints.get(MEMBER_HINT)):
            return None
        return IndexedMembers(hints[GROUP_HINT], hints[MEMBER_HINT],
                              values[self.INDEX_VAR], server)


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {RESOURCE_GROUP: ResourceGroup}
