# SPDX-License-Identifier: Apache-2.0
"""The effect of a revised definition on each member of the group."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.engine.binding.adoption import AdoptedMembers
from nova_holistic.engine.decision import moving_members
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.refused_hosts import Refused
from nova_holistic.engine.member_rows import has_failed_server, host_of
from nova_holistic.engine.update.outdated_members import is_up_to_date
from nova_holistic.engine import volume_rows
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.marked_text import format_message
from nova_holistic.model.plan import Reason
from nova_holistic.model.storage_pools import volumes_of
from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table.store import OCCUPYING
from nova_holistic.table.volume_records import VolumeRecord


@dataclass(frozen=True, slots=True)
class RevisedMembers:
    """The members of a group before and after an update.

    Every member of the revised group that has a row is fixed, movable, planned
    again, adopted or left out. The rows of all other members will be removed.

    :ivar revised: the group after the update
    :ivar fixed: rows of members with a server, by path. A failed member whose
        description has changed is not among them
    :ivar movable: rows of planned members that may stay, by path
    :ivar to_plan: rows of members that are planned as if they had no row, by
        path
    :ivar removed: rows of members that are not in the revised group
    :ivar left_out: paths of members without a place after the update: they
        were released since the update was requested, or the capacity is not
        sufficient for them
    :ivar refused: hosts that Nova refused for members
    :ivar seen: IDs of all rows of the group
    :ivar wanted_again: IDs of rows of members with a server that were released
        before the update was requested
    :ivar server_groups: UUIDs of bound server groups of Nova, by the path of
        the description of the members
    :ivar adopted: existing servers that become members
    :ivar volumes: volumes, which stay in their pools
    """

    revised: Group
    fixed: Mapping[str, MemberRecord]
    movable: Mapping[str, MemberRecord]
    to_plan: Mapping[str, MemberRecord]
    removed: Sequence[MemberRecord]
    left_out: frozenset[str] = frozenset()
    refused: Refused = field(default_factory=FrozenMapping)
    wanted_again: Collection[int] = ()
    seen: frozenset[int] = frozenset()
    server_groups: Mapping[str, str] = field(default_factory=FrozenMapping)
    adopted: AdoptedMembers = field(default_factory=AdoptedMembers)
    volumes: Sequence[VolumeRecord] = ()

    @property
    def servers(self) -> Sequence[Member]:
        """The members of the revised group without its volumes, in the order
        of the document."""
        return [m for m in self.revised.all_members()
                if not m.requirements.volume]

    @property
    def volume_paths(self) -> Sequence[str]:
        """Paths of the volumes of the revised group, in the order of the
        document."""
        return [each.path for each in volumes_of(self.revised)]

    def vacated(self, freed: Collection[str]) -> Sequence[MemberRecord]:
        """Planned members that lose their holds.

        :param freed: paths of movable members that will move
        """
        given_up = (*self.to_plan.values(), *self.removed,
                    *self.adopted.replaced.values(),
                    *(self.movable[path] for path in freed))
        return [m for m in given_up if m.state == MemberState.PLANNED]

    def request(self, record: GroupRecord, objective: str,
                freed: Collection[str] = ()) -> PlanningRequest:
        """The request for the members without a fixed place.

        Servers that leave the group with their members, and servers that
        failed on their hosts, still use these hosts. They do not count as
        servers from outside the group.

        :param freed: paths of movable members that may move
        """
        unmoved = [row for path, row
                   in (*self.fixed.items(), *self.movable.items())
                   if path not in freed]
        guests = [m.place.host for m in (*self.to_plan.values(), *self.removed,
                                         *self.adopted.replaced.values())
                  if m.state in OWNED or has_failed_server(m)]
        guests.extend(moving_members.sources(self.fixed.values()).values())
        paths = volume_rows.placed_paths(self.revised, self.volumes)
        return PlanningRequest(
            self.revised.only(paths - self.left_out), objective,
            record.uuid,
            {**moving_members.placed(unmoved), **self.adopted.hosts,
             **volume_rows.pools(self.volumes)}, guests,
            self.vacated(freed),
            [host_of(place) for row in unmoved
             for place in {row.place, row.next_place}], self.refused,
            record.project_id, moving_members.sources(unmoved),
            self.server_groups, self.volumes)


def revised_members(record: GroupRecord, revised: Group,
                    members: Sequence[MemberRecord],
                    earlier: Collection[int]) -> RevisedMembers:
    """The effect of an update on the current rows of a group.

    :param record: the group before it is revised
    :param revised: the group after the update
    :param members: all rows of the group
    :param earlier: IDs of rows that were released when the update was
        requested; rows released since then stay released
    """
    before = _requirements(
        record.document, {row.member.path for row in members})
    after = {m.path: m.requirements for m in revised.all_members()}
    fixed, movable, to_plan, left_out = {}, {}, {}, set()
    for row in members:
        path = row.member.path
        if path not in after:
            continue
        unchanged = (before.get(path) == after[path]
                     and is_up_to_date(row, after[path]))
        if row.state in OWNED or unchanged and has_failed_server(row):
            fixed[path] = row
        elif unchanged and row.state == MemberState.PLANNED:
            movable[path] = row
        elif row.state == MemberState.RELEASED and row.id not in earlier:
            left_out.add(path)
        else:
            to_plan[path] = row
    return RevisedMembers(
        revised, fixed, movable, to_plan,
        [m for m in members if m.member.path not in after],
        frozenset(left_out), wanted_again=[
            row.id for row in fixed.values()
            if row.unwanted and row.id in earlier],
        seen=frozenset(row.id for row in members))


def released(record: GroupRecord,
             members: Sequence[MemberRecord]) -> frozenset[int]:
    """IDs of the rows that were released when the group's task was requested.

    If the task does not name them, the result contains the rows without
    allocations, and the rows that will be released with their servers.

    :param members: the current rows
    """
    released_members = (record.pending or {}).get('released')
    if released_members is not None:
        return frozenset(released_members)
    return frozenset(m.id for m in members
                     if m.unwanted or m.state not in OCCUPYING)


def changed_servers(record: GroupRecord,
                    where: RevisedMembers) -> Sequence[Reason]:
    """A reason for each member with a server whose requirements the revision
    changes."""
    why = format_message(
        'a server has been created for this member: its resources can '
        'no longer be changed')
    return [Reason.of(path, why)
            for path in changed_requirements(record, where)]


def changed_requirements(record: GroupRecord, where: RevisedMembers
                         ) -> Mapping[str, tuple[Requirements | None,
                                                 Requirements]]:
    """Previous and new requirements of members with a server, by path, if they
    differ."""
    before = _requirements(record.document, where.fixed.keys())
    return {member.path: (before.get(member.path), member.requirements)
            for member in where.revised.all_members()
            if member.path in where.fixed
            and before.get(member.path) != member.requirements}


def _requirements(document: Mapping[str, Any], paths: Collection[str]
                  ) -> Mapping[str, Requirements]:
    """The requirements of each member, with unresolved flavors.

    :param paths: paths of the members whose number may change
    """
    group = parse_without_policies(document).resized(paths)
    return {m.path: m.requirements for m in group.all_members()}
