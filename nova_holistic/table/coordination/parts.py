# SPDX-License-Identifier: Apache-2.0
"""The parts of groups in the children of a federation.

A row exists from before the first request to the child until the deletion of
the group in the child is confirmed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import progress
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.federation_models import PartRow
from nova_holistic.table.schema.models import GroupRow, MemberRow


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A part of a group.

    :ivar idempotency_key: key of the request that creates the group in the
        child
    :ivar group_uuid: UUID of the group of this parent
    :ivar child: name of the child
    :ivar name: name of the group in the child
    :ivar paths: paths of the members in the part
    :ivar state: see ``nova_holistic.federation.saga.journal.PartState``
    :ivar child_group: UUID of the group in the child; None if it is unknown
    :ivar lease_expires_at: naive UTC of the end of the lease in the child;
        None if it is unknown or the group has no lease
    :ivar instances: UUIDs of the servers by the paths of their members, as
        the child last reported them. They are not in the rows of members,
        where a UUID is unique, because a child that reports a server of
        another child must not affect the other child's part.
    :ivar pointers: path of the cloud below the child and UUID of the group
        in this cloud, by the paths of members. Only a child that is also a
        parent reports them.
    :ivar child_project: project of the group in the child; None if it is
        unknown
    """

    idempotency_key: str
    group_uuid: str
    child: str
    name: str
    paths: Sequence[str]
    state: str
    updated_at: datetime
    child_group: str | None = None
    lease_expires_at: datetime | None = None
    instances: Mapping[str, str] = FrozenMapping()
    pointers: Mapping[str, tuple[str, str]] = FrozenMapping()
    child_project: str | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """What a child reported about a part. The fields are those of GroupPart.
    """

    lease_expires_at: datetime | None
    instances: Mapping[str, str]
    pointers: Mapping[str, tuple[str, str]]
    child_project: str | None


class Parts:
    """The parts of groups. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def write(self, part: GroupPart, engine: str | None,
              revision: int | None = None) -> bool:
        """Insert a part, or replace it. The columns that only ``observe``
        writes, ``instances`` and ``pointers``, do not change.

        :param engine: UUID of the engine that must own the task of the group;
            None if the group must have no task
        :param revision: required revision of the group; None means any
        :returns: False if the group does not exist, or has another owner or
            another revision, and nothing is written
        """
        values = part_values(part)
        with self._database.writer() as session:
            if not owned(session, part.group_uuid, engine, revision):
                return False
            changed = session.execute(
                sa.update(PartRow).where(
                    PartRow.idempotency_key == part.idempotency_key)
                .values(values)
                .execution_options(synchronize_session=False))
            if not changed.rowcount:
                session.execute(sa.insert(PartRow).values(
                    idempotency_key=part.idempotency_key, **values))
        return True

    @retried
    def observe(self, seen: GroupPart, report: PartReport, now: datetime,
                revision: int | None = None,
                engine: str | None = None) -> bool:
        """Write the values that a child reported for a part.

        :param seen: the part before the child answered
        :param revision: see ``write``
        :param engine: see ``write``
        :returns: False if the group has another owner or another revision, or
            if the part has changed since. The report may then be older than
            the part, and nothing is written
        """
        this = PartRow.idempotency_key == seen.idempotency_key
        with self._database.writer() as session:
            # Every change of a part locks the row of its group.
            if not owned(session, seen.group_uuid, engine, revision):
                return False
            row = session.scalars(sa.select(PartRow).where(this)).one_or_none()
            if row is None or _part(row) != seen:
                return False
            session.execute(sa.update(PartRow).where(this).values({
                'lease_expires_at': report.lease_expires_at,
                'instances': dict(report.instances), 'updated_at': now,
                'pointers': {path: list(pointer)
                             for path, pointer in report.pointers.items()},
                **_project(report.child_project)})
                .execution_options(synchronize_session=False))
        return True

    @retried
    def remove(self, keys: Sequence[str]) -> None:
        """Delete parts whose groups in the children are deleted.

        :param keys: idempotency keys of the parts
        """
        with self._database.writer() as session:
            session.execute(
                sa.delete(PartRow).where(PartRow.idempotency_key.in_(keys))
                .execution_options(synchronize_session=False))

    @retried
    def forget(self, group_uuid: str, child: str, now: datetime) -> bool:
        """Delete the parts of a group in a child, and mark the members in it
        as lost. Released members stay released.

        :returns: False if the group does not exist or has a task, and nothing
            is changed
        """
        with self._database.writer() as session:
            if not owned(session, group_uuid, None):
                return False
            session.execute(
                sa.delete(PartRow).where(PartRow.group_uuid == group_uuid,
                                         PartRow.child == child)
                .execution_options(synchronize_session=False))
            transitions.change_members(session, [
                MemberRow.group_uuid == group_uuid, MemberRow.host == child,
                MemberRow.state.not_in(
                    [MemberState.RELEASED, MemberState.LOST])],
                {'state': MemberState.LOST, 'updated_at': now})
            progress.settle_in(session, group_uuid, now)
        return True

    def of_group(self, group_uuid: str) -> Sequence[GroupPart]:
        """The parts of a group in the order of their idempotency keys."""
        with self._database.reader() as session:
            return tuple(map(_part, session.scalars(
                sa.select(PartRow).where(PartRow.group_uuid == group_uuid)
                .order_by(PartRow.idempotency_key))))


def owned(session: orm.Session, group_uuid: str, engine: str | None,
          revision: int | None = None) -> bool:
    """Lock the group's row until the end of the transaction.

    :param revision: see ``Parts.write``
    :returns: whether the engine owns the task of the group; without an engine,
        whether the group has no task
    """
    where = [GroupRow.uuid == group_uuid,
             GroupRow.task.is_(None) if engine is None
             else GroupRow.engine == engine]
    if revision is not None:
        where.append(GroupRow.revision == revision)
    return bool(session.execute(
        sa.update(GroupRow).where(*where)
        .values(engine=GroupRow.engine)
        .execution_options(synchronize_session=False)).rowcount)


def part_values(part: GroupPart) -> dict[str, object]:
    """Column values of a part without its key and without the columns that
    only ``Parts.observe`` writes."""
    return {'group_uuid': part.group_uuid, 'child': part.child,
            'name': part.name, 'child_group': part.child_group,
            'paths': list(part.paths), 'state': part.state,
            'lease_expires_at': part.lease_expires_at,
            'updated_at': part.updated_at, **_project(part.child_project)}


def _project(child_project: str | None) -> dict[str, object]:
    """The column with the project. A known project is never replaced by an
    unknown one."""
    return {} if child_project is None else {'child_project': child_project}


def _part(row: PartRow) -> GroupPart:
    return GroupPart(
        row.idempotency_key, row.group_uuid, row.child, row.name,
        tuple(row.paths), row.state, row.updated_at, row.child_group,
        row.lease_expires_at, FrozenMapping(row.instances or {}),
        FrozenMapping({path: tuple(pointer)
                       for path, pointer in (row.pointers or {}).items()}),
        row.child_project)
