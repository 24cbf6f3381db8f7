# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::AutoScalingGroup, whose servers may be members of a group.

It replaces the class of Heat. A scaling group without pointers to members
behaves as before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heat.engine import resource
from heat.engine.resources.openstack.heat import autoscaling_group

from nova_holistic.client.client import Client
from nova_holistic.heat import api_client
from nova_holistic.heat.template_servers import (
    GROUP_HINT, HINTS, MEMBER_HINT, SCALING_GROUP)


@dataclass(frozen=True, slots=True)
class _Pointer:
    """The member to which all servers of a scaling group belong."""

    group: str
    member: str


class ScalingGroup(autoscaling_group.AutoScalingResourceGroup):
    """The capacity of new servers is planned before Heat creates them, and
    the capacity of deleted servers is free afterwards."""

    def resize(self, capacity: int) -> None:
        pointer = self._pointer()
        if pointer is not None:
            try:
                _plan(api_client.client(self.context), pointer, capacity)
            except Exception as error:
                if self.status == self.COMPLETE:
                    # Heat writes no event for a signal that fails.
                    self._add_event('SIGNAL', self.FAILED, str(error))
                raise
        super().resize(capacity)

    def _pointer(self) -> _Pointer | None:
        properties = (self.properties[self.RESOURCE] or {}).get('properties')
        hints = (properties or {}).get(HINTS)
        if not isinstance(hints, Mapping):
            return None
        group, member = hints.get(GROUP_HINT), hints.get(MEMBER_HINT)
        return _Pointer(group, member) if group and member else None


def _plan(client: Client, pointer: _Pointer, capacity: int) -> None:
    """Let the member have this number of servers.

    Existing servers stay where they are. The places of a smaller number are
    freed when Heat deletes the servers.

    :raises GroupUnchanged: there is no plan for this number of servers
    """
    if capacity < 1:
        # A member has at least one place; its lease ends.
        return
    groups = client.groups
    before = groups.wait(pointer.group)
    if _desired(before['definition'], pointer.member) == capacity:
        return
    inside, _, name = pointer.member.rpartition('/')
    groups.add_members(pointer.group, [{
        # With a smaller minimum, an engine would plan a part of the step.
        'name': name, 'count': {'min': capacity, 'desired': capacity},
        **({'group': inside} if inside else {})}])
    found = groups.wait(pointer.group)
    if found['reasons']:
        raise api_client.GroupUnchanged(reasons=api_client.reasons(found))


def _desired(definition: Mapping[str, Any], path: str) -> int | None:
    """How many servers of a counted member are planned."""
    *names, last = path.split('/')
    for name in names:
        definition = _named(definition.get('groups'), name)
    count = _named(definition.get('members'), last).get('count')
    return count.get('desired') if isinstance(count, Mapping) else count


def _named(parts: Any, name: str) -> Mapping[str, Any]:
    return next((each for each in parts or () if each['name'] == name), {})


def resource_mapping() -> dict[str, type[resource.Resource]]:
    return {SCALING_GROUP: ScalingGroup}
