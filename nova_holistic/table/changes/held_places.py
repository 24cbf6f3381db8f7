# SPDX-License-Identifier: Apache-2.0
"""Gives a place that is held for one server to an equal server.

The servers of a member whose number may change are equal. A client that
numbers its servers may never use a number again. The next server then gets the
place that is held for this number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
import uuid

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import (
    alternates, places_versions, transitions)
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states


class _NotHandedOver(Exception):
    """Ends the transaction without a change."""


@dataclass(frozen=True, slots=True)
class Handover:
    """The change that gives a held place to an equal server.

    :ivar record: the group as it was read
    :ivar held: the planned row as it was read
    :ivar path: path of the server that gets the place
    """

    record: GroupRecord
    held: MemberRecord
    path: str


def hand_over(database: Database, handover: Handover,
              now: datetime) -> MemberRecord | None:
    """Give the place and the hold of a planned row to another path. The
    previous row is released, and other servers may use it.

    :returns: the planned row at the path; None if the group or the row has
        changed, another member has the path, or the user has released the
        member at the path
    :raises IllegalTransition: a row in the state that was read cannot be
        released, because it has a server
    """
    states.MEMBERS.must_begin(states.RELEASE, [handover.held.state])
    try:
        return _hand_over(database, handover, now)
    except (_NotHandedOver, Duplicate):
        return None


@retried
def _hand_over(database: Database, handover: Handover,
               now: datetime) -> MemberRecord:
    record, held = handover.record, handover.held
    with database.writer() as session:
        # This statement locks the group's row, as for all changes of places.
        if not transitions.change_group(session, record.uuid, [
                GroupRow.status.in_(CLAIMABLE),
                GroupRow.revision == record.revision], {
                    'updated_at': now,
                    'places_version': places_versions.next_version()}):
            raise _NotHandedOver
        version = session.scalar(sa.select(GroupRow.places_version).where(
            GroupRow.uuid == record.uuid)) or 0
        row = rows.member_record(_released(session, held, version))
        row = replace(
            row, held=True, state=MemberState.PLANNED, hold=held.hold,
            returned=False, updated_at=now,
            member=replace(held.member, path=handover.path))
        number = _write(session, row, version)
        alternates.request_alternates(session, [record.uuid], now)
        return replace(row, id=number)


def _released(session: orm.Session, held: MemberRecord,
              version: int) -> MemberRow:
    """Release the previous row.

    :param version: the new ``places_version``
    :returns: the row after this change
    :raises _NotHandedOver: the row has changed
    """
    is_row = MemberRow.id == held.id
    if not _change(session, [
            is_row, MemberRow.hold == held.hold,
            MemberRow.path == held.member.path,
            MemberRow.state == MemberState.PLANNED], {
                'state': str(MemberState.RELEASED), 'held': False,
                'returned': True, 'hold': str(uuid.uuid4()),
                'places_version': version}):
        raise _NotHandedOver
    return session.scalars(sa.select(MemberRow).where(is_row)).one()


def _write(session: orm.Session, row: MemberRecord, version: int) -> int:
    """Write the row at its path.

    :returns: the ID of the row
    :raises _NotHandedOver: the path has a row that is not released, or that
        the user has released
    """
    statement = sa.select(MemberRow.id, MemberRow.state, MemberRow.returned,
                          MemberRow.unwanted)
    found = session.execute(statement.where(
        MemberRow.group_uuid == row.group_uuid,
        MemberRow.path == row.member.path)).first()
    if found is None:
        last = session.scalar(sa.select(sa.func.max(MemberRow.position)).where(
            MemberRow.group_uuid == row.group_uuid))
        return session.execute(sa.insert(MemberRow).values(
            **rows.member_values(row, (last or 0) + 1),
            places_version=version)).inserted_primary_key[0]
    reusable = (found.state == MemberState.RELEASED and found.returned
                and not found.unwanted)
    if not reusable or not _change(
            session, [MemberRow.id == found.id,
                      MemberRow.state == MemberState.RELEASED,
                      # A user may have released the member since it was read.
                      MemberRow.unwanted.is_(False)],
            {**rows.renewed_values(row), 'places_version': version}):
        raise _NotHandedOver
    return found.id


def _change(session: orm.Session, where: Sequence[Any],
            values: dict[str, Any]) -> bool:
    return bool(session.execute(
        sa.update(MemberRow).where(*where).values(**values)
        .execution_options(synchronize_session=False)).rowcount)
