# SPDX-License-Identifier: Apache-2.0
"""Groups and members as far as it takes to see which of them need work.

None of these queries reads a document: the process that does the work reads
the complete record.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.records import (
    GroupStatus, MemberRecord, MemberState, Task)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

ACTIVE = (GroupStatus.PLANNING, GroupStatus.PLANNED, GroupStatus.BUILDING,
          GroupStatus.COMPLETE, GroupStatus.DEGRADED)
"""Statuses of groups with members that are planned, claimed or built."""

GROUP = (GroupRow.uuid, GroupRow.project_id, GroupRow.user_id,
         GroupRow.status, GroupRow.task, GroupRow.updated_at,
         GroupRow.revision, GroupRow.exclusive)
"""Columns of a group's outline."""
MEMBER = (MemberRow.id, MemberRow.group_uuid, MemberRow.state,
          MemberRow.host, MemberRow.provider, MemberRow.hold,
          MemberRow.instance_uuid, MemberRow.destination)
"""Columns of a member's outline."""


@dataclass(frozen=True, slots=True)
class GroupOutline:
    """Fields of a GroupRecord."""

    uuid: str
    project_id: str
    user_id: str
    status: GroupStatus
    task: Task | None
    updated_at: datetime | None
    revision: int = 1
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class MemberOutline:
    """Fields of a MemberRecord and of its place.

    :ivar destination: name of the host that its server is moving to
    """

    id: int
    group_uuid: str
    state: MemberState
    host: str
    provider: str
    hold: str
    instance_uuid: str | None
    destination: str | None = None

    @property
    def position(self) -> tuple[str, str | None]:
        """Names of the host that the member is on, and of the host that its
        server is moving to."""
        return self.host, self.destination


def group_outline(row: sa.Row) -> GroupOutline:
    """:param row: ``GROUP`` of a group"""
    uuid, project, user, status, task, *rest = row
    return GroupOutline(uuid, project, user, GroupStatus(status),
                        task and Task(task), *rest)


def member_outline(row: sa.Row) -> MemberOutline:
    """:param row: ``MEMBER`` of a member"""
    number, group, state, *rest, destination = row
    return MemberOutline(number, group, MemberState(state), *rest,
                         _destination(state, destination))


def members_of_servers(database: Database, instance_uuids: Collection[str],
                       ) -> tuple[MemberOutline, ...]:
    """Members of active groups that have one of these servers."""
    found: list[MemberOutline] = []
    with database.reader() as session:
        for batch in batches(sorted(instance_uuids)):
            found.extend(map(member_outline, session.execute(
                sa.select(*MEMBER)
                .join(GroupRow, GroupRow.uuid == MemberRow.group_uuid)
                .where(MemberRow.instance_uuid.in_(batch),
                       GroupRow.status.in_(ACTIVE)))))
    return tuple(found)


def groups(database: Database,
           uuids: Collection[str]) -> tuple[GroupOutline, ...]:
    """Active groups with these UUIDs."""
    found: list[GroupOutline] = []
    with database.reader() as session:
        for batch in batches(sorted(uuids)):
            found.extend(map(group_outline, session.execute(
                sa.select(*GROUP).where(GroupRow.uuid.in_(batch),
                                        GroupRow.status.in_(ACTIVE)))))
    return tuple(found)


def whole(database: Database,
          outlines: Collection[MemberOutline]) -> tuple[MemberRecord, ...]:
    """Members without their alternates, in their current state: those of them
    that still have the same state, place and server."""
    seen = {each.id: (each.state, each.hold, each.host, each.instance_uuid)
            for each in outlines}
    found = []
    with database.reader() as session:
        for batch in batches(sorted(seen)):
            found.extend(map(rows.bare_member, session.execute(
                sa.select(*rows.BARE).where(MemberRow.id.in_(batch)))))
    return tuple(m for m in found
                 if (m.state, m.hold, m.place.host, m.instance_uuid)
                 == seen[m.id])


def _destination(state: str, values: Mapping | None) -> str | None:
    place = rows.destination(state, values)
    return place and place.host
