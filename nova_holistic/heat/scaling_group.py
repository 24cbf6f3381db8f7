# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::AutoScalingGroup, whose servers may be members of a group.

It replaces the class of Heat. A scaling group without pointers to members, in
a stack that is not annotated, behaves as before.
"""

from collections.abc import Mapping
from typing import Any

from heat.engine import resource
from heat.engine.resources.openstack.heat import autoscaling_group
from heat.engine import stack as heat_stack

from nova_holistic.client.client import Client
from nova_holistic.documents.hot.split import PATH_PARAMETER
from nova_holistic.heat import api_client
from nova_holistic.heat.members.counted_members import (
    counted_below, CountedMembers)
from nova_holistic.heat.members import step_lease
from nova_holistic.heat.stacks import annotated_stack
from nova_holistic.heat.stacks.stack_group import StackGroup
from nova_holistic.heat.stacks.stack_servers import names_of
from nova_holistic.heat.templates.template_servers import (
    GROUP_HINT, HINTS, MEMBER_HINT, SCALING_GROUP)
from nova_holistic.model.stack_rules import ANY


class ScalingGroup(autoscaling_group.AutoScalingResourceGroup):
    """The capacity of new servers is planned before Heat creates them, and
    the capacity of deleted servers is free afterwards."""

    def resize(self, capacity: int) -> None:
        try:
            members = self._members()
            if members is not None and members.plan(
                    self._client(), capacity):
                step_lease.hold(self._client().groups, members.group,
                                self.stack.timeout_secs())
        except Exception as error:
            if self.status == self.COMPLETE:
                # Heat writes no event for a signal that fails.
                self._add_event('SIGNAL', self.FAILED, str(error))
            raise
        super().resize(capacity)

    def _members(self) -> CountedMembers | None:
        """The members to which the servers of the scaling group belong."""
        properties = (self.properties[self.RESOURCE] or {}).get(
            'properties') or {}
        hints = properties.get(HINTS)
        if isinstance(hints, Mapping) and hints.get(GROUP_HINT):
            path = hints.get(MEMBER_HINT)
            return CountedMembers(hints[GROUP_HINT], (path,)) if path else None
        if properties.get(GROUP_HINT) and properties.get(PATH_PARAMETER):
            return self._of_nested_stacks(properties)
        return self._of_annotated_stack()

    def _of_nested_stacks(self,
                          properties: Mapping[str, Any]) -> CountedMembers:
        """The members of a template that points at its group by parameters."""
        group = properties[GROUP_HINT]
        definition = self._client().groups.get(group)['definition']
        return CountedMembers(group, tuple(counted_below(
            definition, properties[PATH_PARAMETER])))

    def _of_annotated_stack(self) -> CountedMembers | None:
        root = self.stack
        if root.owner_id is not None:
            root = heat_stack.Stack.load(
                self.context, stack_id=root.root_stack_id())
        # Before the resource exists, the stack's group has been planned.
        if self.resource_id is None or not annotated_stack.is_annotated(
                root.t):
            return None
        group = StackGroup(self._client(), root)
        group_id = group.find()
        if group_id is None:
            return None
        names = names_of(self)
        paths = {}
        # During an update of the legacy engine, the stored template of the
        # root stack consists of parts of both templates.
        for rule in group.rules(group_id):
            *first, last = rule.resource.split('/')[:len(names) + 1]
            if last == ANY and len(first) == len(names) and all(
                    part in (ANY, name) for part, name in zip(first, names)):
                prefix = [name for part, name in zip(first, names)
                          if part == ANY]
                paths[_filled(rule.member, prefix)] = None
        return CountedMembers(group_id, tuple(paths)) if paths else None

    def _client(self) -> Client:
        return api_client.client(self.context)


def _filled(member: str, names: list[str]) -> str:
    for name in names:
        member = member.replace(ANY, name, 1)
    return member


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {SCALING_GROUP: ScalingGroup}
