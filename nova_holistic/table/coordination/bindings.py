# SPDX-License-Identifier: Apache-2.0
"""Bindings of server groups of Nova to members.

A create with the hint ``group`` of a bound server group is a create with a
pointer to the member.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import enum

import sqlalchemy as sa

from nova_holistic.table.binding_model import BindingRow
from nova_holistic.table.database import Database, retried
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.records import GroupStatus

BINDABLE = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
            GroupStatus.DEGRADED)
"""Statuses of a group whose members have places."""


class BindingKind(enum.StrEnum):
    """What is bound."""

    SERVER_GROUP = 'server-group'


@dataclass(frozen=True, slots=True)
class Binding:
    """
    :ivar target: UUID of the server group
    :ivar group_uuid: of the holistic group
    :ivar path: of a member description
    """

    kind: BindingKind
    target: str
    group_uuid: str
    path: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a request with the hint ``group`` points at.

    :ivar path: of a member description; for a server that is a member, of
        this member
    :ivar is_member: whether servers of the request are members of the group
    """

    group_uuid: str
    path: str
    is_member: bool


class Bindings:
    """Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def add(self, binding: Binding, instead_of: Collection[str] = ()) -> bool:
        """
        :param instead_of: targets whose bindings of the same kind to the
            same group end
        :returns: False if an engine works on the group, if its members have
            no places, or if it is gone
        :raises Duplicate: the target or the path has a binding already
        """
        with self._database.writer() as session:
            # It locks the group's row until the binding is written.
            if not session.execute(
                    sa.update(GroupRow)
                    .where(GroupRow.uuid == binding.group_uuid,
                           GroupRow.status.in_(BINDABLE),
                           GroupRow.task.is_(None))
                    .values(updated_at=binding.created_at)
                    .execution_options(synchronize_session=False)).rowcount:
                return False
            if instead_of:
                session.execute(sa.delete(BindingRow).where(
                    BindingRow.kind == binding.kind,
                    BindingRow.target.in_(instead_of),
                    BindingRow.group_uuid == binding.group_uuid)
                    .execution_options(synchronize_session=False))
            session.execute(sa.insert(BindingRow).values(
                kind=str(binding.kind), target=binding.target,
                group_uuid=binding.group_uuid, path=binding.path,
                created_at=binding.created_at))
        return True

    @retried
    def remove(self, group_uuid: str, target: str) -> bool:
        """
        :returns: whether the group had a binding of that target
        """
        with self._database.writer() as session:
            return bool(session.execute(
                sa.delete(BindingRow).where(
                    BindingRow.kind.in_(list(BindingKind)),
                    BindingRow.target == target,
                    BindingRow.group_uuid == group_uuid)
                .execution_options(synchronize_session=False)).rowcount)

    def find(self, kind: BindingKind, target: str) -> Binding | None:
        with self._database.reader() as session:
            row = session.get(BindingRow, (str(kind), target))
            return row and _record(row)

    def of_group(self, group_uuid: str) -> Sequence[Binding]:
        """In the order of their paths."""
        with self._database.reader() as session:
            return tuple(map(_record, session.scalars(
                sa.select(BindingRow).where(
                    BindingRow.group_uuid == group_uuid)
                .order_by(BindingRow.path, BindingRow.kind))))

    def server_groups(self, group_uuid: str) -> Mapping[str, str]:
        """UUIDs of bound server groups, by the path of the description."""
        with self._database.reader() as session:
            return {path: target for path, target in session.execute(
                sa.select(BindingRow.path, BindingRow.target).where(
                    BindingRow.group_uuid == group_uuid,
                    BindingRow.kind == BindingKind.SERVER_GROUP))}

    def pointed(self, server_group: str, instance_uuids: Sequence[str] = ()
                ) -> Pointed | None:
        """What a request for servers in a server group points at, in one
        statement.

        A server that is a member stays one, whether or not its server group
        is bound now.
        """
        query = sa.select(
            BindingRow.group_uuid, BindingRow.path, sa.literal(0)).where(
                BindingRow.kind == BindingKind.SERVER_GROUP,
                BindingRow.target == server_group)
        if instance_uuids:
            query = query.union_all(sa.select(
                MemberRow.group_uuid, MemberRow.path, sa.literal(1)).where(
                    MemberRow.instance_uuid.in_(instance_uuids)))
        with self._database.reader() as session:
            found = [Pointed(group, path, bool(is_member)) for (
                group, path, is_member) in session.execute(query)]
        members = [each for each in found if each.is_member]
        bound = next((each for each in found if not each.is_member), None)
        if bound is None or any(
                each.group_uuid != bound.group_uuid for each in members):
            return members[0] if members else bound
        return Pointed(bound.group_uuid, bound.path, bool(members))

    def is_described(self, group_uuid: str, path: str,
                     description: str) -> bool:
        """Whether a member has this description."""
        with self._database.reader() as session:
            return session.scalar(sa.select(MemberRow.description).where(
                MemberRow.group_uuid == group_uuid,
                MemberRow.path == path)) == description


def _record(row: BindingRow) -> Binding:
    return Binding(BindingKind(row.kind), row.target, row.group_uuid,
                   row.path, row.created_at)
