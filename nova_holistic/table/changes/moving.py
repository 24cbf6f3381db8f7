# SPDX-License-Identifier: Apache-2.0
"""Claimed members go to other places, one of a group at a time.

Whoever moves a member has judged the policies of its group with the other
members where they were read. Two creates may do so at the same time. The first
write succeeds. The second write is refused, and its create judges again.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
import enum

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import places
from nova_holistic.table.database import Database, retried
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows


class Move(enum.Enum):
    """What became of a move."""

    WRITTEN = 'written'
    OVERTAKEN = 'another member of the group has a new place'
    GONE = 'the claim is gone'


class _NotWritten(Exception):
    """Ends the transaction without a change."""


@retried
def move(database: Database, moved: MemberRecord, from_hold: str,
         judged: Sequence[MemberRecord], now: datetime) -> Move:
    """Write the new place and the new hold of a claimed member.

    :param moved: the row with its new place, its new hold and its instance
    :param from_hold: the hold that the row has in the table
    :param judged: all rows of the group as they were when the new place was
        judged
    """
    holds = {row.id: row.hold for row in judged if row.id != moved.id}
    answer = Move.OVERTAKEN
    try:
        with database.writer() as session:
            # This locks the group's row, so that moves of one group follow
            # one another.
            session.execute(
                sa.update(GroupRow).where(GroupRow.uuid == moved.group_uuid)
                .values(updated_at=now, places_version=places.raised())
                .execution_options(synchronize_session=False))
            found = _holds(session, moved.group_uuid)
            if found.pop(moved.id, None) == moved.hold:
                # Written before, and the answer got lost.
                return Move.WRITTEN
            if found != holds:
                raise _NotWritten
            if not _write(session, moved, from_hold, now):
                answer = Move.GONE
                raise _NotWritten
    except _NotWritten:
        return answer
    return Move.WRITTEN


def _holds(session: orm.Session, group: str) -> dict[int, str]:
    return {number: hold for number, hold in session.execute(
        sa.select(MemberRow.id, MemberRow.hold).where(
            MemberRow.group_uuid == group))}


def _write(session: orm.Session, moved: MemberRecord, from_hold: str,
           now: datetime) -> bool:
    changes: Mapping = rows.member_changes(
        {'place': moved.place, 'hold': moved.hold})
    return session.execute(
        sa.update(MemberRow)
        .where(MemberRow.id == moved.id, MemberRow.hold == from_hold,
               MemberRow.state == MemberState.CLAIMED,
               MemberRow.instance_uuid == moved.instance_uuid)
        .values(updated_at=now, places_version=places.of_group(),
                **changes)
        .execution_options(synchronize_session=False)).rowcount == 1
