# SPDX-License-Identifier: Apache-2.0
"""Changes the rows of a group to those of its revised definition.

A row is changed only if it has not changed since it was read for the plan, so
that a claim in between is never lost.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import (
    alternates, places_versions, transitions)
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.history import events
from nova_holistic.table.history.events import Changed, Event, Kind
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table import states

_VACATED_STATES = states.MEMBERS.before(states.OCCUPY)
"""States of a member whose capacity an update has taken."""


class _Changed(Exception):
    """One of the rows has changed since it was read."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The changes of a group and of each of its members.

    :ivar changes: fields of GroupRecord; the end of the lease may be a
        LeaseEnd
    :ivar order: descriptions of all members by path, in the order of the
        document. Of rows that only this field names, at most the position and
        the description change
    :ivar renewed: rows that were read, each with its new row
    :ivar removed: rows that were read and are removed
    :ivar added: rows of new members
    :ivar outdated: whether planned members that stay lose their alternates,
        which were computed with other policies or other members
    :ivar wanted_again: IDs of members that are planned again when their
        servers are deleted, although they were released before
    :ivar seen: IDs of all rows when the group was read. If a server has become
        an additional member since then, nothing is changed. None disables this
        check
    :ivar volumes: paths of all volumes, in the order of the document
    """

    changes: Mapping[str, Any]
    order: Mapping[str, str]
    renewed: Sequence[tuple[MemberRecord, MemberRecord]] = ()
    removed: Sequence[MemberRecord] = ()
    added: Sequence[MemberRecord] = ()
    outdated: bool = False
    wanted_again: Collection[int] = ()
    seen: frozenset[int] | None = None
    volumes: Sequence[str] = ()


_VACATED = (events.reason(
    '', 'an update exchanges the place of the member for another one'),)


@retried
def revise(database: Database, group_uuid: str, engine: str,
           revision: Revision, now: datetime) -> bool:
    """Make all changes or none, and raise the group's revision.

    :returns: False if a row has changed since it was read, or the engine no
        longer owns the group's task
    :raises IllegalTransition: the state of a member does not allow the change
    """
    for row, new in revision.renewed:
        states.MEMBERS.check([row.state], new.state)
    positions = {path: at for at, path in enumerate(revision.order)}
    try:
        with database.writer() as session:
            _change_group(session, group_uuid, engine, {
                **rows.group_changes(revision.changes),
                'revision': GroupRow.revision + 1,
                'places_version': places_versions.next_version(),
                'engine_at': now, 'updated_at': now})
            _must_have_seen(session, group_uuid, revision.seen)
            if revision.outdated:
                _forget_alternates(session, group_uuid)
            # The order is fixed, so that two transactions do not wait for each
            # other's rows.
            for row in sorted(revision.removed, key=_id):
                _require_change(session, sa.delete(MemberRow).where(
                    *_as_seen(row)))
            for row, new in sorted(revision.renewed, key=lambda r: r[0].id):
                _require_change(session, sa.update(MemberRow).where(
                    *_as_seen(row)).values(rows.renewed_values(new)))
            values = [rows.member_values(row, positions[row.member.path])
                      for row in revision.added]
            if values:
                session.execute(sa.insert(MemberRow), values)
            for number in sorted(revision.wanted_again):
                session.execute(
                    sa.update(MemberRow).where(MemberRow.id == number)
                    .values(unwanted=False)
                    .execution_options(synchronize_session=False))
            _put_in_order(session, group_uuid, revision.order, positions)
            if revision.volumes:
                _put_volumes_in_order(session, group_uuid, revision.volumes)
            alternates.request_alternates(session, [group_uuid], now)
            events.add(session, _of_revision(group_uuid, revision, now))
    except (_Changed, Duplicate):
        return False
    return True


@retried
def vacate(database: Database, group_uuid: str, engine: str,
           members: Sequence[MemberRecord], now: datetime) -> bool:
    """Prevent claims of planned members until their places are changed or
    occupied again: of all members, or of none. Their rows become lost and
    held.

    :param members: the rows as they were read
    :returns: False if one of the rows has changed since then, or the engine
        does not own the group's task
    :raises IllegalTransition: a member is not planned. A row that is lost
        already has no hold, and a claimed row has a server
    """
    states.MEMBERS.must_begin(states.VACATE, {row.state for row in members})
    try:
        with database.writer() as session:
            _change_group(session, group_uuid, engine, {
                'engine_at': now,
                'places_version': places_versions.next_version()})
            for row in sorted(members, key=_id):
                _require_change(session, sa.update(MemberRow).where(
                    *_as_seen(row)).values(
                        state=MemberState.LOST, held=True, updated_at=now,
                        places_version=places_versions.of_group()))
            events.add(session, events.of_members([
                Changed(group_uuid, row.member.path, row.state,
                        row.place.host) for row in members],
                MemberState.LOST, now, _VACATED))
    except _Changed:
        return False
    return True


@retried
def occupy(database: Database, group_uuid: str, engine: str,
           holds: Collection[str], now: datetime) -> bool:
    """Mark vacated members as planned at their former places, unless they were
    released in the meantime.

    :param holds: holds of the vacated members
    :returns: False if the engine does not own the group's task, because the
        new owner may have vacated the members again
    """
    try:
        with database.writer() as session:
            _change_group(session, group_uuid, engine, {'engine_at': now})
            for batch in batches(sorted(holds)):
                transitions.change_members(session, [
                    MemberRow.hold.in_(batch), MemberRow.held.is_(True),
                    MemberRow.state.in_(_VACATED_STATES),
                ], {'state': MemberState.PLANNED, 'updated_at': now})
    except _Changed:
        return False
    return True


def _of_revision(group_uuid: str, revision: Revision,
                 now: datetime) -> list[Event]:
    """One event of the group, and one event of each member that was moved or
    changed its state, if these are at most ``INDIVIDUAL`` members."""
    renewed = [(seen, new) for seen, new in revision.renewed
               if (seen.state, seen.place.host) != (
                   new.state, new.place.host)]
    moved = [
        Event(group_uuid, Kind.PLACE_MOVED if seen.state == new.state
              else Kind.MEMBER_STATE, now, seen.member.path,
              from_state=None if seen.state == new.state
              else str(seen.state),
              to_state=None if seen.state == new.state else str(new.state),
              host=new.place.host)
        for seen, new in renewed]
    return [Event(group_uuid, Kind.GROUP_REVISED, now, details={
        'members': len(revision.order), 'added': len(revision.added),
        'moved': len(revision.renewed), 'removed': len(revision.removed),
    }), *(moved if len(moved) <= events.INDIVIDUAL else ())]


def _forget_alternates(session: orm.Session, group_uuid: str) -> None:
    session.execute(
        sa.update(MemberRow)
        .where(MemberRow.group_uuid == group_uuid,
               MemberRow.state == MemberState.PLANNED)
        .values(alternates=[]).execution_options(synchronize_session=False))


def _id(row: MemberRecord) -> int:
    return row.id


def _as_seen(row: MemberRecord) -> Sequence[sa.ColumnElement[bool]]:
    # A claim changes the state, and the end of a claim changes it again. A new
    # plan for a member changes its hold.
    return (MemberRow.id == row.id, MemberRow.state == row.state,
            MemberRow.hold == row.hold)


def _change_group(session: orm.Session, group_uuid: str, engine: str,
                  values: Mapping[str, Any]) -> None:
    if not transitions.change_group(
            session, group_uuid, [GroupRow.engine == engine], values,
            by=states.BY_TASK):
        raise _Changed


def _require_change(session: orm.Session, statement: Any) -> None:
    """Execute a statement that must change a row.

    :raises _Changed: no row satisfies its conditions
    """
    if not session.execute(statement.execution_options(
            synchronize_session=False)).rowcount:
        raise _Changed


def _must_have_seen(session: orm.Session, group_uuid: str,
                    seen: frozenset[int] | None) -> None:
    """Ensure that all rows of the group were read.

    :raises _Changed: the group has other rows
    """
    if seen is not None and not seen.issuperset(session.scalars(
            sa.select(MemberRow.id).where(
                MemberRow.group_uuid == group_uuid))):
        raise _Changed


def _put_in_order(session: orm.Session, group_uuid: str,
                  order: Mapping[str, str],
                  positions: Mapping[str, int]) -> None:
    """Update the rows whose position or description has changed."""
    for number, path, position, description in session.execute(
            sa.select(MemberRow.id, MemberRow.path, MemberRow.position,
                      MemberRow.description)
            .where(MemberRow.group_uuid == group_uuid)).all():
        wanted = positions.get(path), order.get(path)
        if path in order and wanted != (position, description):
            session.execute(
                sa.update(MemberRow).where(MemberRow.id == number)
                .values(position=wanted[0], description=wanted[1])
                .execution_options(synchronize_session=False))


def _put_volumes_in_order(session: orm.Session, group_uuid: str,
                          order: Sequence[str]) -> None:
    """Update the volumes whose position has changed."""
    positions = {path: at for at, path in enumerate(order)}
    for number, path, position in session.execute(
            sa.select(VolumeRow.id, VolumeRow.path, VolumeRow.position)
            .where(VolumeRow.group_uuid == group_uuid)
            .order_by(VolumeRow.id)).all():
        if positions.get(path, position) != position:
            session.execute(
                sa.update(VolumeRow).where(VolumeRow.id == number)
                .values(position=positions[path])
                .execution_options(synchronize_session=False))
