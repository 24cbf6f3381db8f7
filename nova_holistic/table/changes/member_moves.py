# SPDX-License-Identifier: Apache-2.0
"""Moves members to other places, one member of a group at a time.

A move is checked against the policies of its group, with the other members at
the places that were read. Two requests may check moves at the same time. The
first write succeeds. The second write is refused, and its request checks
again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
import enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import places_versions, transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states


Position = tuple[str, str, str | None, bool]
"""The hold, the host, and the host of the destination of a member, and whether
the member uses its place."""


class Move(enum.Enum):
    """The result of a move."""

    WRITTEN = 'written'
    OVERTAKEN = 'another member of the group has a new place'
    GONE = 'the claim, the server or the group is gone'


class _NotWritten(Exception):
    """Ends the transaction without a change."""


def move(database: Database, moved: MemberRecord, from_hold: str,
         checked_rows: Sequence[MemberRecord], now: datetime) -> Move:
    """Write the new place and the new hold of a claimed member.

    :param moved: the row with its new place, its new hold and its instance
    :param from_hold: the hold that the row has in the table
    :param checked_rows: all rows of the group at the time of the check
    """
    return _write_alone(
        database, moved, checked_rows, from_hold,
        {'place': moved.place, 'hold': moved.hold, 'updated_at': now})


def write_destination(database: Database, sent: MemberRecord,
                      checked_rows: Sequence[MemberRecord], now: datetime
                      ) -> Move:
    """Write the destination to which Nova moves the server of a built member.

    :param sent: the row with its destination and its instance
    :param checked_rows: all rows of the group at the time of the check
    """
    return _write_alone(
        database, sent, checked_rows, sent.hold,
        {'destination': sent.destination, 'updated_at': now})


@retried
def correct(database: Database, seen: MemberRecord, now: datetime,
            **changes: Any) -> bool:
    """Change the row of a built member to the state of its server in Nova,
    unless the row has changed since it was read. Otherwise, this would replace
    a destination that ``write_destination`` has written in the meantime.

    :param seen: the row of the built member, as it was read before the server
    :param changes: fields of MemberRecord: see ``rows.member_changes``
    :returns: whether the row was changed
    """
    with database.writer() as session:
        # This statement locks the group's row and changes nothing. So the
        # correction and moves in the group are sequential.
        session.execute(
            sa.update(GroupRow).where(GroupRow.uuid == seen.group_uuid)
            .values(revision=GroupRow.revision)
            .execution_options(synchronize_session=False))
        found = read_positions(session, seen.group_uuid)
        if found.get(seen.id) != positions([seen])[seen.id]:
            return False
        return transitions.change_members(session, [
            MemberRow.id == seen.id, MemberRow.state == MemberState.BUILT,
            MemberRow.instance_uuid == seen.instance_uuid,
            # The same destination may have been written again.
            MemberRow.updated_at == seen.updated_at], {
                'state': MemberState.BUILT, 'updated_at': now,
                **rows.member_changes(changes)}) == 1


@retried
def _write_alone(database: Database, wanted: MemberRecord,
                 checked_rows: Sequence[MemberRecord], from_hold: str,
                 changes: Mapping[str, Any]) -> Move:
    """Change the row if all other members of its group still have the checked
    places.

    :param wanted: the new row, in its current state
    :param from_hold: the hold that the row has in the table
    :param changes: fields of MemberRecord
    """
    others = positions(row for row in checked_rows if row.id != wanted.id)
    answer = Move.OVERTAKEN
    try:
        with database.writer() as session:
            # This statement locks the group's row, so that moves in one group
            # are sequential.
            session.execute(
                sa.update(GroupRow).where(GroupRow.uuid == wanted.group_uuid)
                .values(updated_at=changes['updated_at'],
                        places_version=places_versions.next_version())
                .execution_options(synchronize_session=False))
            found = read_positions(session, wanted.group_uuid)
            if wanted.id not in found:
                answer = Move.GONE
                raise _NotWritten
            hold, *_ = found.pop(wanted.id)
            if hold == wanted.hold != from_hold:
                # The row was written before, and the response got lost.
                return Move.WRITTEN
            if found != others:
                raise _NotWritten
            if not _write(session, wanted, from_hold, {
                    **rows.member_changes(changes),
                    'places_version': places_versions.of_group()}):
                answer = Move.GONE
                raise _NotWritten
    except _NotWritten:
        return answer
    return Move.WRITTEN


def positions(checked_rows: Iterable[MemberRecord]) -> dict[int, Position]:
    """The positions of members by the IDs of their rows. A position changes
    when the hosts of the member change, or when a member that is not counted
    at its place, for example a lost one, is planned there."""
    return {row.id: (row.hold, row.place.host,
                     row.destination and row.destination.host,
                     row.state in states.OCCUPYING)
            for row in checked_rows}


def read_positions(session: orm.Session, group: str) -> dict[int, Position]:
    """The current positions of all members of a group by their IDs."""
    found = {}
    for row in session.execute(
            sa.select(MemberRow.id, MemberRow.hold, MemberRow.host,
                      MemberRow.state, MemberRow.destination).where(
                          MemberRow.group_uuid == group)):
        going = rows.destination(row.state, row.destination)
        found[row.id] = (row.hold, row.host, going and going.host,
                         row.state in states.OCCUPYING)
    return found


def _write(session: orm.Session, wanted: MemberRecord, from_hold: str,
           values: Mapping[str, Any]) -> bool:
    return session.execute(
        sa.update(MemberRow)
        .where(MemberRow.id == wanted.id, MemberRow.hold == from_hold,
               MemberRow.state == wanted.state,
               MemberRow.instance_uuid == wanted.instance_uuid)
        .values(values)
        .execution_options(synchronize_session=False)).rowcount == 1
