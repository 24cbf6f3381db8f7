# SPDX-License-Identifier: Apache-2.0
"""A group's status follows from its members' states."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states as machine

SETTLING = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
            GroupStatus.DEGRADED, GroupStatus.RELEASED)
"""Statuses that members decide; only a planner leads out of the others."""


def status_of(states: Collection[MemberState]) -> GroupStatus | None:
    """The status of a group whose members are in these states.

    None if the members do not determine it, because the group has none. A lost
    member is planned again as soon as capacity is available, and a failed
    member as soon as its server is deleted.
    """
    present = set(states)
    if not present:
        return None
    if present & {MemberState.CLAIMED, MemberState.BUILT,
                  MemberState.FAILED}:
        done = present <= {MemberState.BUILT, MemberState.RELEASED}
        return GroupStatus.COMPLETE if done else GroupStatus.BUILDING
    if present & {MemberState.PLANNED, MemberState.LOST}:
        return GroupStatus.PLANNED
    return GroupStatus.RELEASED


WITH_SERVERS = (GroupStatus.BUILDING, GroupStatus.COMPLETE)
"""Statuses of a group that has servers, and may therefore be degraded."""


def settled_status(before: GroupStatus | str,
                   states: Collection[MemberState]) -> GroupStatus | None:
    """The status to write for a group whose members are in these states.

    A degraded group stays degraded as long as it has servers, because only a
    check of its policies can end this status.

    :returns: None if the status does not change
    """
    after = status_of(states)
    if before not in SETTLING or before == after or (
            before == GroupStatus.DEGRADED and after in WITH_SERVERS):
        return None
    return after


def started(session: orm.Session, group_uuid: str,
            now: datetime) -> list[events.Event]:
    """A member was claimed: one statement, for any size of the group.

    :returns: the events that the caller writes
    """
    changed = session.execute(
        sa.update(GroupRow)
        .where(GroupRow.uuid == group_uuid,
               GroupRow.status.in_(machine.GROUPS.before(machine.START)))
        .values(status=GroupStatus.BUILDING, updated_at=now)
        .execution_options(synchronize_session=False)).rowcount
    return [transitions.status_changed(
        group_uuid, GroupStatus.PLANNED, GroupStatus.BUILDING, now),
    ] if changed else []


@retried
def settle(database: Database, group_uuid: str, now: datetime) -> None:
    """Bring a group's status in line with its members."""
    with database.reader() as session:
        if _unsettled(session, group_uuid)[1] is None:
            return
    with database.writer() as session:
        if database.engine.dialect.name != 'sqlite':
            # Wait for claims that are not committed yet. SQLite has one
            # writer at a time.
            session.execute(sa.select(MemberRow.state).where(
                MemberRow.group_uuid == group_uuid).order_by(MemberRow.id)
                .with_for_update(read=True)).all()
        settle_in(session, group_uuid, now)


def settle_in(session: orm.Session, group_uuid: str, now: datetime) -> None:
    """Bring a group's status in line with its members, in a transaction."""
    # It changes nothing, and keeps others from revising or settling the
    # group between what is read now and what is written then.
    _change(session, group_uuid, status=GroupRow.status)
    before, status = _unsettled(session, group_uuid)
    if status is not None:
        _change(session, group_uuid, status=status, updated_at=now)
        events.add(session, [transitions.status_changed(
            group_uuid, before, status, now)])


def _unsettled(session: orm.Session,
               group_uuid: str) -> tuple[str, GroupStatus | None]:
    """The group's status, and what it should be, where it is another."""
    before = session.scalar(sa.select(GroupRow.status).where(
        GroupRow.uuid == group_uuid))
    return before, before and settled_status(before, [
        MemberState(state) for state in session.scalars(
            sa.select(MemberRow.state).distinct().where(
                MemberRow.group_uuid == group_uuid))])


def _change(session: orm.Session, group_uuid: str, **values: Any) -> None:
    session.execute(
        sa.update(GroupRow).where(GroupRow.uuid == group_uuid).values(values)
        .execution_options(synchronize_session=False))
