# SPDX-License-Identifier: Apache-2.0
"""Changes the states of planned volumes, and writes the events."""

from collections.abc import Collection, Mapping, Sequence
import contextlib
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.changes.group_lease import Extended
from nova_holistic.table.changes.member_release import (
    EXPIRED, NOT_UPDATING)
from nova_holistic.table.changes import places_versions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import MemberState, Task
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import (
    CLAIMABLE, UNCLAIMED, VolumeRecord, VOLUMES, WITH_VOLUME, WITHOUT_PLAN)


@retried
def change(database: Database, seen: VolumeRecord, to: MemberState,
           now: datetime, **values: Any) -> VolumeRecord | None:
    """Change the state of a volume by compare-and-swap.

    A claim succeeds only if the status of the group permits it.

    :param seen: the row that the caller has read
    :param values: other columns that change
    :returns: the changed row; None if the row has changed since it was read,
        or the group does not permit the claim
    :raises IllegalTransition: ``VOLUMES`` does not have the change
    :raises Duplicate: another row has the same volume
    """
    with database.writer() as session:
        return _change(session, seen, to, now, **values)


def _change(session: orm.Session, seen: VolumeRecord, to: MemberState,
            now: datetime, **values: Any) -> VolumeRecord | None:
    """Like ``change``, in a transaction of the caller."""
    VOLUMES.check([seen.state], to)
    if to not in WITH_VOLUME:
        values['volume_uuid'] = None
    where = _unchanged(seen)
    if to == MemberState.CLAIMED:
        where.append(sa.exists().where(
            GroupRow.uuid == seen.group_uuid,
            GroupRow.status.in_(CLAIMABLE)))
    changed = replace(seen, state=to, generation=seen.generation + 1,
                      updated_at=now, **values)
    won = _update(session, where, {
        'state': to, 'generation': changed.generation, 'updated_at': now,
        **values})
    if not won:
        return None
    if seen.state != to:
        _write_events(session, [
            (seen.group_uuid, seen.path, seen.state, changed.pool)], to, now)
    if to == MemberState.RELEASED or seen.state == MemberState.LOST:
        places_versions.raise_of_links(session, [seen.group_uuid])
    return changed


def _unchanged(seen: VolumeRecord) -> list[sa.ColumnElement[bool]]:
    """The conditions that a row has not changed since it was read."""
    # SQLite may give the number of a deleted row to a new row, which then has
    # another path or pool.
    return [VolumeRow.id == seen.id, VolumeRow.state == seen.state,
            VolumeRow.group_uuid == seen.group_uuid,
            VolumeRow.path == seen.path, VolumeRow.pool == seen.pool,
            VolumeRow.generation == seen.generation]


@retried
def end(database: Database, seen: VolumeRecord, now: datetime) -> bool:
    """The volume of a row does not exist any longer: the row is planned
    again, or released if it is unwanted or the lease of its group has passed.

    :returns: False if the row has changed since it was read
    """
    with database.writer() as session:
        # This locks the row and changes nothing. Other transactions lock
        # volumes before their group, too.
        if not _update(session, _unchanged(seen), {'state': VolumeRow.state}):
            return False
        lease = session.execute(
            sa.select(GroupRow.status, GroupRow.lease_expires_at,
                      GroupRow.task)
            .where(GroupRow.uuid == seen.group_uuid)
            .with_for_update()).first()
        kept = lease is not None and lease.status in CLAIMABLE and (
            lease.lease_expires_at is None or lease.lease_expires_at > now
            # The update may renew the lease.
            or lease.task == Task.UPDATING)
        # A release changes the generation, so that it is not overlooked.
        to = (MemberState.PLANNED if kept and not seen.unwanted
              else MemberState.RELEASED)
        return _change(session, seen, to, now) is not None


@retried
def release(database: Database, group_uuid: str, now: datetime,
            paths: Collection[str] | None = None,
            with_volumes: bool = False) -> int:
    """Release the volumes of a group that are not claimed.

    :param paths: paths of volumes; None means all
    :param with_volumes: whether other volumes are released when they are
        deleted
    :returns: the number of released rows
    """
    where = [VolumeRow.group_uuid == group_uuid]
    if paths is not None:
        where.append(VolumeRow.path.in_(sorted(paths)))
    with database.writer() as session:
        return _release_these(session, where, now, with_volumes)


@retried
def release_at(database: Database, first: FirstChange, now: datetime,
               paths: Collection[str], with_volumes: bool) -> bool:
    """Like ``release``, if it is the first change of a release.

    :returns: False if the group has another revision or does not exist, and
        nothing is changed
    """
    with database.writer() as session:
        if not first.apply(session):
            return False
        _release_these(session, [
            VolumeRow.group_uuid == first.group_uuid,
            VolumeRow.path.in_(sorted(paths))], now, with_volumes)
    return True


@retried
def expire(database: Database, group_uuid: str, now: datetime) -> int:
    """Release the unclaimed volumes of a group if its lease has passed.

    If the lease is extended at the same time, or an update is requested that
    may renew it, nothing is changed.

    :returns: the number of released rows
    """
    passed = [GroupRow.uuid == group_uuid, NOT_UPDATING,
              GroupRow.lease_expires_at <= now]
    with contextlib.suppress(Extended), database.writer() as session:
        count = _release(session, [
            VolumeRow.group_uuid == group_uuid, sa.exists().where(*passed)],
            now, EXPIRED)
        # The statements above do not lock the group. This one locks it, and
        # changes nothing.
        if count and not session.execute(
                sa.update(GroupRow).where(*passed)
                .values(status=GroupRow.status)
                .execution_options(synchronize_session=False)).rowcount:
            raise Extended
        return count
    return 0


def release_unplanned(database: Database, now: datetime) -> int:
    """Release the unclaimed volumes of groups without a plan and a task, for
    example after the last server of a released group was deleted.

    :returns: the number of released rows
    """
    without_plan = [GroupRow.status.in_(WITHOUT_PLAN), GroupRow.task.is_(None)]
    with database.reader() as session:
        groups = session.scalars(
            sa.select(VolumeRow.group_uuid).distinct()
            .join(GroupRow, GroupRow.uuid == VolumeRow.group_uuid)
            .where(VolumeRow.state.in_(UNCLAIMED), *without_plan)).all()
    return sum(_release_of(database, group_uuid, [
        sa.exists().where(GroupRow.uuid == group_uuid, *without_plan)], now)
        for group_uuid in groups)


@retried
def _release_of(database: Database, group_uuid: str, where: Sequence[Any],
                now: datetime) -> int:
    with database.writer() as session:
        return _release(
            session, [VolumeRow.group_uuid == group_uuid, *where], now)


def _release_these(session: orm.Session, where: Sequence[Any],
                   now: datetime, with_volumes: bool) -> int:
    """Release unclaimed volumes. The others may be released later."""
    if with_volumes:
        _update(session, [*where, VolumeRow.state.in_(WITH_VOLUME)], {
            'unwanted': True, 'generation': VolumeRow.generation + 1})
    return _release(session, where, now)


def _release(session: orm.Session, where: Sequence[Any], now: datetime,
             reasons: Sequence[Mapping[str, Any]] = ()) -> int:
    """Release unclaimed volumes. The first statement locks the rows, so that
    a claim happens before or after the transaction."""
    free = [*where, VolumeRow.state.in_(UNCLAIMED)]
    if not _update(session, free, {'state': VolumeRow.state}):
        return 0
    before = session.execute(
        sa.select(VolumeRow.id, VolumeRow.group_uuid, VolumeRow.path,
                  VolumeRow.state, VolumeRow.pool)
        .where(*free).with_for_update()).all()
    # The conditions may have changed since, for example the lease. The rows
    # that were read are locked.
    for batch in batches([row.id for row in before]):
        _update(session, [VolumeRow.id.in_(batch)], {
            'state': MemberState.RELEASED, 'updated_at': now,
            'generation': VolumeRow.generation + 1})
    _write_events(session, [row[1:] for row in before], MemberState.RELEASED,
                  now, reasons)
    places_versions.raise_of_links(
        session, {row.group_uuid for row in before})
    return len(before)


def _update(session: orm.Session, where: Sequence[Any],
            values: Mapping[str, Any]) -> int:
    return session.execute(
        sa.update(VolumeRow).where(*where).values(values)
        .execution_options(synchronize_session=False)).rowcount


def _write_events(session: orm.Session, before: Sequence[Sequence[str]],
                  to: MemberState, now: datetime,
                  reasons: Sequence[Mapping[str, Any]] = ()) -> None:
    """Write events. Each row has the UUID of the group, the path, the former
    state and the pool."""
    events.add(session, events.of_members(
        [events.Changed(*row) for row in before], to, now, reasons))
