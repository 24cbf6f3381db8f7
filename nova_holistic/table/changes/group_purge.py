# SPDX-License-Identifier: Apache-2.0
"""Deletes finished groups permanently.

A group is finished if its status is one of ``FINISHED``, no engine has a task
for it, none of its members has, or may have, a server or a hold, and none of
its volumes uses capacity.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table import batches
from nova_holistic.table.changes import link_demands
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import deletions, events
from nova_holistic.table.queries.group_state import LIGHT
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import OCCUPYING

FINISHED = (GroupStatus.RELEASED, GroupStatus.UNPLACEABLE, GroupStatus.ERROR)
"""Statuses of groups that may be deleted."""

IDLE = (MemberState.RELEASED, MemberState.LOST)
"""States of a member that has no server. A failed member may have one."""

_IS_IDLE = sa.and_(MemberRow.held.is_(False), MemberRow.state.in_(IDLE))
_IN_USE = VolumeRow.state.in_(OCCUPYING)


def _volumes(group_uuid: str) -> sa.Select:
    """A query for the first volume of the group that uses capacity."""
    return sa.select(VolumeRow.path).where(
        VolumeRow.group_uuid == group_uuid, _IN_USE).limit(1)


class _Busy(Exception):
    """A member has a server or a hold: the transaction is rolled back."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which finished groups are deleted.

    :ivar unchanged_since: naive UTC; None for groups of any age
    """

    statuses: Collection[GroupStatus] = FINISHED
    unchanged_since: datetime | None = None

    def conditions(self) -> list[Any]:
        """The conditions for the row of a chosen group, without those for its
        members."""
        found = [GroupRow.status.in_(self.statuses), GroupRow.task.is_(None)]
        if self.unchanged_since is not None:
            found.append(sa.or_(GroupRow.updated_at.is_(None),
                                GroupRow.updated_at <= self.unchanged_since))
        return found


def finished(database: Database, choice: Choice,
             limit: int | None = None) -> Iterator[GroupRecord]:
    """Chosen groups without their documents. They are read in batches, each in
    a separate transaction, so that the caller may delete them between batches.
    """
    left = limit
    # One status at a time: its groups are a range of an index.
    for status in choice.statuses:
        last = ''
        while left is None or left > 0:
            size = (batches.MAX_BATCH_SIZE if left is None
                    else min(left, batches.MAX_BATCH_SIZE))
            found = _read(database, choice, status, last, size)
            yield from found
            if left is not None:
                left -= len(found)
            if len(found) < size:
                break
            last = found[-1].uuid


def _read(database: Database, choice: Choice, status: GroupStatus, last: str,
          size: int) -> list[GroupRecord]:
    """The groups of one status with UUIDs after a given one."""
    busy = sa.exists().where(
        MemberRow.group_uuid == GroupRow.uuid, sa.not_(_IS_IDLE))
    query = sa.select(*LIGHT).where(
        GroupRow.status == status, GroupRow.uuid > last,
        *choice.conditions(), ~busy, ~sa.exists().where(
            VolumeRow.group_uuid == GroupRow.uuid, _IN_USE)
    ).order_by(GroupRow.uuid).limit(size)
    with database.reader() as session:
        return [rows.light_group_record(row)
                for row in session.execute(query)]


@retried
def purge(database: Database, group_uuid: str, choice: Choice) -> bool:
    """Delete a finished and chosen group, its members and its history.

    :returns: False if the group is not finished, not chosen, or does not exist
    """
    try:
        with database.writer() as session:
            # This statement changes nothing, but it locks the row. Until the
            # transaction ends, no other transaction can give the group a task,
            # another status or another member.
            locked = session.execute(
                sa.update(GroupRow)
                .where(GroupRow.uuid == group_uuid, *choice.conditions())
                .values(status=GroupRow.status)
                .execution_options(synchronize_session=False)).rowcount
            if not locked:
                return False
            # On PostgreSQL, an update alone does not prevent other
            # transactions from adding a member.
            session.execute(sa.select(GroupRow.uuid).where(
                GroupRow.uuid == group_uuid).with_for_update())
            where = MemberRow.group_uuid == group_uuid
            # The condition is checked again for a row that another
            # transaction has changed since.
            session.execute(sa.delete(MemberRow).where(where, _IS_IDLE)
                            .execution_options(synchronize_session=False))
            if session.scalar(sa.select(MemberRow.id).where(where).limit(1)):
                raise _Busy
            if session.scalar(_volumes(group_uuid)):
                raise _Busy
            session.execute(
                sa.delete(GroupRow).where(GroupRow.uuid == group_uuid)
                .execution_options(synchronize_session=False))
            deletions.note(session, group_uuid)
            link_demands.forget(session, group_uuid)
            events.delete(session, group_uuid, timeutils.utcnow())
    except _Busy:
        return False
    return True


def obstacle(database: Database, group_uuid: str,
             choice: Choice) -> str | None:
    """The reason why a group is not deleted, as the end of a sentence.

    None if the group may be deleted, or does not exist.
    """
    with database.reader() as session:
        row = session.execute(sa.select(*LIGHT).where(
            GroupRow.uuid == group_uuid)).first()
        busy = session.execute(
            sa.select(MemberRow.path, MemberRow.state, MemberRow.held).where(
                MemberRow.group_uuid == group_uuid, sa.not_(_IS_IDLE))
            .order_by(MemberRow.position).limit(1)).first()
        volume = session.scalar(_volumes(group_uuid))
    if row is None:
        return None
    if row.status not in choice.statuses:
        return f'is {row.status}'
    if row.task is not None:
        return 'is being changed by an engine'
    if busy is not None:
        held = ' and held' if busy.held else ''
        return f'has member {busy.path!r}, which is {busy.state}{held}'
    if volume is not None:
        return f'has volume {volume!r}'
    since = choice.unchanged_since
    if since is not None and row.updated_at and row.updated_at > since:
        return 'was changed too recently'
    return None
