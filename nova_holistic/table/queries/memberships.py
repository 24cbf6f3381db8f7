# SPDX-License-Identifier: Apache-2.0
"""Which servers are members already, and which are no longer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.schema.detached_servers import DetachedServerRow
from nova_holistic.table.schema.models import GroupRow, MemberRow

_MEMBER = MemberRow.__table__
# The scheduler sends this statement for each server: it is built once.
_GROUP_OF = sa.select(_MEMBER.c.group_uuid).where(
    _MEMBER.c.instance_uuid == sa.bindparam('instance'))


@dataclass(frozen=True, slots=True)
class Membership:
    """
    :ivar path: of the member that the server is
    :ivar project_id: of its group
    """

    group_uuid: str
    path: str
    project_id: str


def owners(database: Database, instance_uuids: Collection[str]
           ) -> Mapping[str, Membership]:
    """The members that servers are, by UUID of the server."""
    with database.reader() as session:
        return {row.instance_uuid:
                Membership(row.group_uuid, row.path, row.project_id)
                for batch in batches(sorted(instance_uuids))
                for row in session.execute(
                    sa.select(MemberRow.instance_uuid, MemberRow.group_uuid,
                              MemberRow.path, GroupRow.project_id)
                    .join(GroupRow, GroupRow.uuid == MemberRow.group_uuid)
                    .where(MemberRow.instance_uuid.in_(batch)))}


def memberships(database: Database, instance_uuids: Collection[str]
                ) -> Mapping[str, tuple[str, str]]:
    """Group and path of the members that servers are, by UUID of the
    server."""
    return {uuid: (found.group_uuid, found.path) for uuid, found
            in owners(database, instance_uuids).items()}


def group_of(database: Database, instance_uuid: str) -> str | None:
    """The group that a server is a member of; one indexed query."""
    with database.link() as link:
        return link.execute(
            _GROUP_OF, {'instance': instance_uuid}).scalar()


def is_detached(database: Database, group_uuid: str,
                instance_uuid: str) -> bool:
    """Whether a server was taken out of the group that it points at."""
    with database.reader() as session:
        return session.scalar(sa.select(sa.literal(1)).where(
            DetachedServerRow.group_uuid == group_uuid,
            DetachedServerRow.instance_uuid == instance_uuid)) is not None
