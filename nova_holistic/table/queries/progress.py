# SPDX-License-Identifier: Apache-2.0
"""Derives the status of a group from the states of its members."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.history.events import Transaction
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states as machine

SETTLING = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
            GroupStatus.DEGRADED, GroupStatus.RELEASED)
"""Statuses that the states of members determine. Only the planning of a group
ends the other statuses."""


def status_of(states: Collection[MemberState]) -> GroupStatus | None:
    """The status of a group whose members are in these states.

    None if the group has no members. A lost member counts as planned, because
    it is planned again when capacity is available. A group with a failed
    member is building, because the server may be deleted and the member
    planned again.
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


def start_group(link: sa.Connection | orm.Session, group_uuid: str,
                now: datetime) -> list[events.Event]:
    """Change the status of a planned group to building, because a member was
    claimed. This takes one statement for any size of the group.

    :returns: the events that the caller must write
    """
    changed = link.execute(
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
    """Update the status of a group to the states of its members."""
    with database.reader() as session:
        if _unsettled(session, group_uuid)[1] is None:
            return
    with database.link_writer() as session:
        settle_locked(session, group_uuid, now)


def settle_locked(session: Transaction, group_uuid: str,
                  now: datetime) -> None:
    """Like ``settle``, but in a transaction of the caller."""
    if session.connection().dialect.name != 'sqlite':
        # Wait for claims that are not committed yet. SQLite has one writer at
        # a time.
        session.execute(sa.select(MemberRow.state).where(
            MemberRow.group_uuid == group_uuid).order_by(MemberRow.id)
            .with_for_update(read=True)).all()
    settle_in(session, group_uuid, now)


def settle_in(session: Transaction, group_uuid: str, now: datetime) -> None:
    """Like ``settle_locked``, but the caller has locked the members that other
    transactions may change."""
    # This statement changes nothing. It locks the row, so that no other
    # transaction changes the group between the following read and write.
    _change(session, group_uuid, status=GroupRow.status)
    before, status = _unsettled(session, group_uuid)
    if status is not None:
        _change(session, group_uuid, status=status, updated_at=now)
        events.add(session, [transitions.status_changed(
            group_uuid, before, status, now)])


def _unsettled(session: Transaction,
               group_uuid: str) -> tuple[str, GroupStatus | None]:
    """The status of the group, and the status that it must have instead; the
    second is None if the status is correct."""
    before = session.scalar(sa.select(GroupRow.status).where(
        GroupRow.uuid == group_uuid))
    return before, before and settled_status(before, [
        MemberState(state) for state in session.scalars(
            sa.select(MemberRow.state).distinct().where(
                MemberRow.group_uuid == group_uuid))])


def _change(session: Transaction, group_uuid: str, **values: Any) -> None:
    session.execute(
        sa.update(GroupRow).where(GroupRow.uuid == group_uuid).values(values)
        .execution_options(synchronize_session=False))
