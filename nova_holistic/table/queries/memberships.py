# SPDX-License-Identifier: Apache-2.0
"""Queries of servers that are members, or were detached from their groups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.detached_servers import DetachedServerRow
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

_MEMBER = MemberRow.__table__
# Statements that the scheduler sends for each server are built once.
_GROUP_OF = sa.select(_MEMBER.c.group_uuid).where(
    _MEMBER.c.instance_uuid == sa.bindparam('instance'))
_ON_HOSTS = sa.select(_MEMBER.c.host).where(
    _MEMBER.c.host.in_(sa.bindparam('hosts', expanding=True)),
    _MEMBER.c.state.in_(states.AT_HOSTS),
    # A failed member counts while it has its server.
    sa.or_(_MEMBER.c.state != MemberState.FAILED,
           _MEMBER.c.instance_uuid.is_not(None)),
    _MEMBER.c.group_uuid != sa.bindparam('except_group'))


@dataclass(frozen=True, slots=True)
class Membership:
    """The membership of a server in a group.

    :ivar path: path of the member
    :ivar project_id: project of the group
    """

    group_uuid: str
    path: str
    project_id: str


def owners(database: Database, instance_uuids: Collection[str]
           ) -> Mapping[str, Membership]:
    """The memberships of servers by UUID of the server. A server that is not a
    member is left out."""
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
    """UUID of the group and path of the member, by UUID of the server. A
    server that is not a member is left out."""
    return {uuid: (found.group_uuid, found.path) for uuid, found
            in owners(database, instance_uuids).items()}


def group_of(database: Database, instance_uuid: str) -> str | None:
    """UUID of the group of a server, in one query with an index; None if the
    server is not a member."""
    with database.link() as link:
        return link.execute(
            _GROUP_OF, {'instance': instance_uuid}).scalar()


def is_detached(database: Database, group_uuid: str,
                instance_uuid: str) -> bool:
    """Whether a server was detached from a group."""
    with database.reader() as session:
        return session.scalar(sa.select(sa.literal(1)).where(
            DetachedServerRow.group_uuid == group_uuid,
            DetachedServerRow.instance_uuid == instance_uuid)) is not None


def hosts_of_members(database: Database, hosts: Collection[str],
                     except_group: str) -> list[str]:
    """The host of each member that uses capacity of any of the hosts, in one
    query with an index for ``batches.MAX_BATCH_SIZE`` hosts. A failed member
    counts while its row has a server: if Nova has deleted the server, the
    place will be held again.

    :param except_group: UUID of the group whose members are left out
    """
    found: list[str] = []
    for batch in batches(hosts):
        with database.link() as link:
            found.extend(link.scalars(_ON_HOSTS, {
                'hosts': batch, 'except_group': except_group}))
    return found
