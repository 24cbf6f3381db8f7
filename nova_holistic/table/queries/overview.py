# SPDX-License-Identifier: Apache-2.0
"""Outlines: the columns that show whether a group or a member requires work.

None of these queries reads a document. The process that does the work reads
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
    """An outline of a group: fields of a GroupRecord."""

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
    """An outline of a member: fields of a MemberRecord and of its place.

    :ivar destination: name of the host to which Nova is moving the server
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
        """Name of the member's host, and name of the host to which Nova is
        moving the server."""
        return self.host, self.destination


def group_outline(row: sa.Row) -> GroupOutline:
    """The outline of a group.

    :param row: columns ``GROUP``
    """
    uuid, project, user, status, task, *rest = row
    return GroupOutline(uuid, project, user, GroupStatus(status),
                        task and Task(task), *rest)


def member_outline(row: sa.Row) -> MemberOutline:
    """The outline of a member.

    :param row: columns ``MEMBER``
    """
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


def member_records(database: Database, outlines: Collection[MemberOutline],
                   ) -> tuple[MemberRecord, ...]:
    """Current records of the members that still have the state, the place and
    the server in their outlines; without their alternates."""
    seen = {outline.id: (outline.state, outline.hold, outline.host,
                         outline.instance_uuid)
            for outline in outlines}
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
