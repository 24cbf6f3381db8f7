# SPDX-License-Identifier: Apache-2.0
"""Writes alternates to the rows of planned members.

An engine computes alternates for members at certain places. It writes them
only if all members still have these places, and only to rows that are still
planned. Any change that gives members new places requests alternates again.
An engine that began before this change loses the work and writes nothing more.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history.events import Transaction
from nova_holistic.table.records import MemberRecord, MemberState, Place
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

BATCH_SIZE = 100
"""Maximum number of members in one transaction. A claim of one of them waits
for the end of the transaction."""

NOT_DUE = {'alternates_due': None, 'alternates_engine': None,
           'alternates_engine_at': None, 'alternates_attempts': 0}


Positions = Mapping[int, tuple[str, str, str]]
"""The hold, the host, and the host of the next place of each member by its
ID."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A group at the time when alternates were computed for its members.

    :ivar revision: revision of the group
    :ivar members: all members of the group
    """

    uuid: str
    revision: int
    members: Sequence[MemberRecord]

    @property
    def positions(self) -> Positions:
        """The places of the members that use capacity."""
        return {row.id: (row.hold, row.place.host, row.next_place.host)
                for row in self.members if row.state in states.OCCUPYING}


class Written(enum.Enum):
    """The result of writing alternates."""

    WRITTEN = 'written'
    OVERTAKEN = 'members have moved, or were added or removed'
    LOST = 'another engine has the work, or it was requested again'


def due_since(now: datetime | None) -> dict[str, Any]:
    """Columns of a group that request alternates for its planned members. An
    engine that began earlier can no longer write its result."""
    return {**NOT_DUE, 'alternates_due': now}


def request_alternates(session: orm.Session, group_uuids: Collection[str],
                       now: datetime | None) -> None:
    """Request alternates for planned members of the groups."""
    for batch in batches(sorted(group_uuids)):
        session.execute(
            sa.update(GroupRow).where(GroupRow.uuid.in_(batch))
            .values(due_since(now))
            .execution_options(synchronize_session=False))


def write(database: Database, seen: Seen, engine: str,
          found: Mapping[int, Sequence[Place]]) -> Written:
    """Write the alternates of members, and end the work of the engine.

    If this fails, the alternates of some members may have been written. They
    remain valid, and the other members only have fewer choices.

    :param found: alternates by the IDs of members that had none
    """
    by_id = {row.id: row for row in seen.members}
    parts = list(batches(sorted(found), BATCH_SIZE)) or [()]
    for number, part in enumerate(parts, 1):
        outcome = _write(database, seen, engine, [
            (by_id[member], found[member]) for member in part],
            ends=number == len(parts))
        if outcome is not Written.WRITTEN:
            break
    return outcome


@retried
def _write(database: Database, seen: Seen, engine: str,
           some: Sequence[tuple[MemberRecord, Sequence[Place]]],
           ends: bool) -> Written:
    """
    :param ends: whether this transaction also ends the work of the engine
    """
    with database.link_writer() as session:
        outcome = _state(session, seen, engine)
        if outcome is not Written.WRITTEN:
            return outcome
        if some:
            _write_members(session, some)
        if ends:
            session.execute(
                sa.update(GroupRow).where(GroupRow.uuid == seen.uuid)
                .values(NOT_DUE).execution_options(synchronize_session=False))
    return Written.WRITTEN


def _write_members(session: Transaction,
                   some: Sequence[tuple[MemberRecord, Sequence[Place]]]
                   ) -> None:
    table = MemberRow.__table__
    session.connection().execute(
        sa.update(table).where(
            table.c.id == sa.bindparam('of_id'),
            table.c.hold == sa.bindparam('of_hold'),
            table.c.state == MemberState.PLANNED)
        .values(alternates=sa.bindparam('chosen')),
        [{'of_id': row.id, 'of_hold': row.hold,
          'chosen': rows.alternates_values(chosen)}
         for row, chosen in some])


def _state(session: Transaction, seen: Seen, engine: str) -> Written:
    """``Written.WRITTEN`` if alternates may be written, and otherwise the
    obstacle. Until the end of the transaction, no other engine can take the
    work, and no update can change the group."""
    is_owner = session.execute(
        # The statement changes nothing, but it locks the row.
        sa.update(GroupRow)
        .where(GroupRow.uuid == seen.uuid,
               GroupRow.alternates_engine == engine)
        .values(alternates_engine=engine)
        .execution_options(synchronize_session=False)).rowcount
    if not is_owner:
        return Written.LOST
    revision = session.scalar(
        sa.select(GroupRow.revision).where(GroupRow.uuid == seen.uuid))
    now = {}
    for row in session.execute(
            sa.select(MemberRow.id, MemberRow.hold, MemberRow.host,
                      MemberRow.state, MemberRow.destination)
            .where(MemberRow.group_uuid == seen.uuid,
                   MemberRow.state.in_(states.OCCUPYING))):
        going = rows.destination(row.state, row.destination)
        now[row.id] = row.hold, row.host, going.host if going else row.host
    return Written.WRITTEN if (revision, now) == (
        seen.revision, seen.positions) else Written.OVERTAKEN
