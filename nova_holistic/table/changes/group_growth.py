# SPDX-License-Identifier: Apache-2.0
"""Adds a server to a group as a member that was not planned.

The place is checked against the policies of the group, with the other members
at the places that were read. The first of two simultaneous writes succeeds,
and the other request reads the group again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import (
    alternates, places_versions, transitions)
from nova_holistic.table.changes.member_moves import positions, read_positions
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.group_reasons import ChangedReasons
from nova_holistic.table.history import events
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

GROWING = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
           GroupStatus.DEGRADED, GroupStatus.RELEASED)
"""Statuses of a group in which a server may become an additional member."""

REUSED = (MemberState.RELEASED, MemberState.CLAIMED, MemberState.BUILT,
          MemberState.FAILED)
"""States of a row that may get another server, because the group does not use
the row or its server is deleted. The row of a server remains claimed until a
reconciler finds that the server is built, even if the server is deleted before
that."""


class _NotWritten(Exception):
    """Ends the transaction without a change."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The change that adds a member.

    :ivar record: the group as it was read
    :ivar wanted: the new row: claimed, with its place, its alternates and a
        hold that is never written to Placement
    :ivar seen: the row that it replaces, as it was read; None for a new row
    :ivar reasons: returns the reasons of the group with the new member; None
        if they do not change
    """

    record: GroupRecord
    wanted: MemberRecord
    seen: MemberRecord | None = None
    reasons: ChangedReasons | None = None


def grow(database: Database, growth: Growth,
         checked_rows: Sequence[MemberRecord], now: datetime) -> int | None:
    """Write the row of a server that becomes an additional member.

    :param checked_rows: all rows of the group at the time of the check
    :returns: the ID of the row; None if the group has changed since then, or
        a user has released the member of the replaced row
    :raises IllegalTransition: the state of the replaced row does not allow the
        change
    """
    if growth.seen is not None:
        states.MEMBERS.check([growth.seen.state], MemberState.CLAIMED)
    try:
        return _grow(database, growth, checked_rows, now)
    except (_NotWritten, Duplicate):
        return None


@retried
def _grow(database: Database, growth: Growth,
          checked_rows: Sequence[MemberRecord], now: datetime) -> int:
    record, wanted, seen = growth.record, growth.wanted, growth.seen
    with database.writer() as session:
        # This statement locks the group's row, so that changes of places in
        # one group are sequential.
        if not transitions.change_group(session, record.uuid, [
                GroupRow.status == record.status, GroupRow.status.in_(GROWING),
                GroupRow.revision == record.revision], {
                    'updated_at': now,
                    'places_version': places_versions.next_version(),
                    **_status(record), **(
                        {} if growth.reasons is None
                        else {'reasons': growth.reasons})}):
            raise _NotWritten
        if read_positions(session, record.uuid) != positions(checked_rows):
            raise _NotWritten
        number = (_insert(session, wanted) if seen is None
                  else _reuse(session, wanted, seen))
        alternates.request_alternates(session, [record.uuid], now)
        events.add(session, events.of_members([events.Changed(
            record.uuid, wanted.member.path,
            str(seen.state) if seen else '', wanted.place.host)],
            MemberState.CLAIMED, now))
        return number


def _status(record: GroupRecord) -> dict[str, Any]:
    if record.status in (GroupStatus.BUILDING, GroupStatus.DEGRADED):
        return {}
    return {'status': GroupStatus.BUILDING}


def _insert(session: orm.Session, wanted: MemberRecord) -> int:
    """Insert the row after all other rows of its group."""
    last = session.scalar(sa.select(sa.func.max(MemberRow.position)).where(
        MemberRow.group_uuid == wanted.group_uuid))
    return session.execute(sa.insert(MemberRow).values(
        **rows.member_values(wanted, 0 if last is None else last + 1),
        places_version=_version(session, wanted))).inserted_primary_key[0]


def _reuse(session: orm.Session, wanted: MemberRecord,
           seen: MemberRecord) -> int:
    changed = session.execute(
        sa.update(MemberRow).where(
            MemberRow.id == seen.id, MemberRow.hold == seen.hold,
            MemberRow.path == seen.member.path,
            MemberRow.state == seen.state,
            # A user may have released the member since it was read.
            MemberRow.unwanted.is_(False),
            MemberRow.instance_uuid == seen.instance_uuid
            if seen.instance_uuid else MemberRow.instance_uuid.is_(None))
        .values(**rows.renewed_values(wanted),
                places_version=_version(session, wanted))
        .execution_options(synchronize_session=False)).rowcount
    if not changed:
        raise _NotWritten
    return seen.id


def _version(session: orm.Session, wanted: MemberRecord) -> int:
    return session.scalar(sa.select(GroupRow.places_version).where(
        GroupRow.uuid == wanted.group_uuid)) or 0
