# SPDX-License-Identifier: Apache-2.0
"""The group and member of a pointer, in two small queries for any size of the
group.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from nova_holistic.table.database import Database
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow


@dataclass(frozen=True, slots=True)
class PointerTarget:
    """The group and the members to which a pointer points.

    :ivar project_id: project of the group
    :ivar status: status of the group
    :ivar states: number of members at the path by state; empty if the group
        has no members at the path
    """

    project_id: str
    status: GroupStatus
    states: Mapping[MemberState, int]


def pointed_at(database: Database, group_uuid: str,
               path: str) -> PointerTarget | None:
    """The group and the members to which a pointer points.

    :param path: path of a member, or of a counted member for all its servers
    :returns: None if the group does not exist
    """
    with database.reader() as session:
        group = session.execute(
            sa.select(GroupRow.project_id, GroupRow.status).where(
                GroupRow.uuid == group_uuid)).first()
        if group is None:
            return None
        for column in (MemberRow.path, MemberRow.description):
            found = session.execute(
                sa.select(MemberRow.state, sa.func.count()).where(
                    MemberRow.group_uuid == group_uuid, column == path)
                .group_by(MemberRow.state)).all()
            if found:
                break
    return PointerTarget(group.project_id, GroupStatus(group.status), {
        MemberState(state): number for state, number in found})
