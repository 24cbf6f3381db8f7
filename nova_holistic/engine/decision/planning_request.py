# SPDX-License-Identifier: Apache-2.0
"""Requests to the snapshot planner, and its results."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nova_holistic.engine.decision import refused_hosts
from nova_holistic import exceptions
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Reason
from nova_holistic.table.records import GroupStatus, MemberRecord
from nova_holistic.table.volume_records import VolumeRecord


class NotPlanned(exceptions.HolisticError):
    """No plan exists, or none was found.

    :ivar status: status that the group gets
    :ivar reasons: reasons that the group gets
    """

    def __init__(self, status: GroupStatus, reasons: Sequence[Reason]):
        super().__init__('; '.join(r.message for r in reasons))
        self.status = status
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class PlanningRequest:
    """A group whose members need places.

    :ivar objective: name of the objective
    :ivar uuid: UUID of the group; None if it is not in the table
    :ivar placed: host names by path of members that stay on their hosts, or
        that Nova is moving there
    :ivar sources: host names by path of members that Nova is moving away
    :ivar extra_servers: for each other server of the group, the name of its
        host; exclusive policies do not count it as a server of others
    :ivar vacated: members that give up their holds; the group may use their
        capacity, and exclusive policies do not count them
    :ivar project_id: project of the group; None if it is not known
    :ivar remembered: hosts of members that stay, as the table stores them; a
        host that is missing from the inventory counts as disabled
    :ivar refused: hosts that Nova refused for members
    :ivar server_groups: UUIDs of bound server groups of Nova, by the path of
        the description of the members
    :ivar volumes: volumes of the group that stay in their pools; ``placed``
        contains them
    """

    group: Group
    objective: str
    uuid: str | None = None
    placed: Mapping[str, str] = field(default_factory=FrozenMapping)
    extra_servers: Collection[str] = ()
    vacated: Sequence[MemberRecord] = ()
    remembered: Collection[Host] = ()
    refused: refused_hosts.Refused = field(default_factory=FrozenMapping)
    project_id: str | None = None
    sources: Mapping[str, str] = field(default_factory=FrozenMapping)
    server_groups: Mapping[str, str] = field(default_factory=FrozenMapping)
    volumes: Sequence[VolumeRecord] = ()

    @property
    def has_hard_rules(self) -> bool:
        """Whether some policy or relationship of the group is hard."""
        return any(rule.hard for scope in self.group.scopes()
                   for rule in scope.group.rules)

    @property
    def bound_group(self) -> Group:
        """The group whose descriptions name the bound server groups."""
        return (_bound(self.group, self.server_groups, '')
                if self.server_groups else self.group)


def _bound(group: Group, bound: Mapping[str, str], prefix: str) -> Group:
    # A server group that the document names is already part of the plan.
    return replace(
        group,
        members=tuple(
            replace(member, requirements=replace(
                member.requirements, server_group=bound[prefix + member.name]))
            if prefix + member.name in bound
            and member.requirements.server_group is None else member
            for member in group.members),
        groups=tuple(_bound(nested, bound, f'{prefix}{nested.name}/')
                     for nested in group.groups))


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A checked plan and its inputs.

    :ivar snapshot: the hosts that the group may use
    :ivar group: the group with resolved flavors
    :ivar exclusive: whether some members reserve the hosts that they use
    """

    group: Group
    snapshot: Snapshot
    plan: Plan
    exclusive: bool

    def group_fields(self) -> Mapping[str, Any]:
        """The columns of the group's row that depend on the plan."""
        return {'levels': self.snapshot.levels, 'exclusive': self.exclusive,
                'uses_all_hosts': any(
                    not rule.local for scope in self.group.scopes()
                    for rule in scope.group.rules)}
