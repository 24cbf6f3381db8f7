# SPDX-License-Identifier: Apache-2.0
"""Volumes that engines create, and the engines that do this: see
``created_volumes``.

Each write of an engine is conditional on its ownership of the creation.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.conditional_updates import (
    update_in, update_rows, without_living_engine)
from nova_holistic.table.coordination import delayed_work
from nova_holistic.table.created_volumes import (
    CreatedVolume, CreatedVolumeState, CreationStatus, VolumeCreation,
    VolumeRequest)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import GroupRecord, GroupStatus
from nova_holistic.table.schema.created_volume_models import (
    CreatedVolumeRow, VolumeCreationRow)
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import CLAIMABLE

_WITHOUT_ENGINE = {'engine': None, 'engine_at': None}
_FIELDS = tuple(VolumeCreation.__dataclass_fields__)
_VOLUME_FIELDS = tuple(CreatedVolume.__dataclass_fields__)
MAX_FAULT = 1000
"""Maximum number of stored characters of a fault."""


def add(session: orm.Session, group: GroupRecord,
        request: VolumeRequest) -> None:
    """Write a request for volumes in the transaction that writes its group."""
    now = group.created_at
    session.execute(sa.insert(VolumeCreationRow).values(
        group_uuid=group.uuid, project_id=group.project_id,
        user_id=group.user_id, request_id=request.request_id,
        status=str(CreationStatus.CREATING), credential=request.credential,
        due_at=now, updated_at=now))
    for batch in batches(request.paths):
        session.execute(sa.insert(CreatedVolumeRow.__table__), [
            {'group_uuid': group.uuid, 'path': path, 'tries': 0,
             'state': str(CreatedVolumeState.WAITING), 'refused_pools': [],
             'updated_at': now} for path in batch])


class VolumeCreations:
    """The volumes that engines create. Every method is one short transaction,
    except that ``take`` may use two."""

    def __init__(self, database: Database):
        self._database = database

    def get(self, group_uuid: str) -> VolumeCreation | None:
        """The creation of the volumes of a group; None if no engine creates
        volumes of it."""
        with self._database.reader() as session:
            row = session.get(VolumeCreationRow, group_uuid)
            return row and _record(row)

    def volumes(self, group_uuid: str) -> Sequence[CreatedVolume]:
        """The volumes in the order of their paths."""
        with self._database.reader() as session:
            return tuple(_volume(row) for row in session.scalars(
                sa.select(CreatedVolumeRow)
                .where(CreatedVolumeRow.group_uuid == group_uuid)
                .order_by(CreatedVolumeRow.path)))

    def waiting(self, now: datetime, stale_before: datetime,
                limit: int) -> Sequence[str]:
        """UUIDs of groups with volumes that an engine has to create or to
        delete, and on which no live engine works. The group that is due for
        the longest time is first."""
        with self._database.reader() as session:
            return tuple(session.scalars(
                sa.select(VolumeCreationRow.group_uuid)
                .where(*_due(now), _unowned(stale_before))
                .order_by(VolumeCreationRow.due_at,
                          VolumeCreationRow.group_uuid)
                .limit(limit)))

    def take(self, group_uuid: str, engine: str, now: datetime,
             stale_before: datetime) -> VolumeCreation | None:
        """Take the creation of the volumes of a group; None if nothing has to
        be done now, or a live engine owns it."""
        won = self._update(
            [VolumeCreationRow.group_uuid == group_uuid, *_due(now),
             _unowned(stale_before)], {'engine': engine, 'engine_at': now})
        record = self.get(group_uuid) if won else None
        return record if record and record.engine == engine else None

    def write_heartbeat(self, group_uuids: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat for groups on which the engine works."""
        for batch in batches(group_uuids):
            self._update([VolumeCreationRow.group_uuid.in_(batch),
                          VolumeCreationRow.engine == engine],
                         {'engine_at': now})

    def return_work(self, engine: str, group_uuid: str | None = None) -> None:
        """Let other engines continue the work.

        :param group_uuid: None means everything that the engine has taken
        """
        where = [VolumeCreationRow.engine == engine]
        if group_uuid is not None:
            where.append(VolumeCreationRow.group_uuid == group_uuid)
        self._update(where, _WITHOUT_ENGINE)

    @retried
    def change_volume(self, record: VolumeCreation, after: CreatedVolume,
                      now: datetime) -> bool:
        """Change the row of a volume; False if another engine owns the
        creation."""
        values: dict[str, Any] = {
            name: getattr(after, name) for name in _VOLUME_FIELDS}
        values.update(
            state=str(after.state), refused_pools=list(after.refused_pools),
            fault=after.fault and after.fault[:MAX_FAULT], updated_at=now)
        with self._database.writer() as session:
            # This locks the creation and changes nothing: the next engine
            # takes it, and then reads the volume, after this change.
            if not update_in(session, VolumeCreationRow, _owned(record), {
                    'engine': VolumeCreationRow.engine}):
                return False
            return session.execute(
                sa.update(CreatedVolumeRow).where(
                    CreatedVolumeRow.group_uuid == record.group_uuid,
                    CreatedVolumeRow.path == after.path)
                .values(values)
                .execution_options(synchronize_session=False)).rowcount == 1

    def finish(self, record: VolumeCreation, status: CreationStatus,
               now: datetime, due_at: datetime) -> bool:
        """End the work of an engine for now; False if another engine owns the
        creation. The credential is deleted from the table unless volumes have
        to be created.

        :param due_at: when an engine continues
        """
        values = {'status': str(status), 'due_at': due_at, 'updated_at': now,
                  **_WITHOUT_ENGINE}
        if status != CreationStatus.CREATING:
            values['credential'] = None
        return self._update(_owned(record), values)

    @retried
    def close(self, record: VolumeCreation) -> bool:
        """Delete the rows of a group without a plan, because no volume is left
        that an engine has to delete; False if another engine owns it."""
        with self._database.writer() as session:
            if not session.execute(
                    # This locks the row and changes nothing.
                    sa.update(VolumeCreationRow).where(*_owned(record))
                    .values(engine=record.engine)
                    .execution_options(synchronize_session=False)).rowcount:
                return False
            for row in CreatedVolumeRow, VolumeCreationRow:
                session.execute(
                    sa.delete(row).where(row.group_uuid == record.group_uuid)
                    .execution_options(synchronize_session=False))
        return True

    def note_failure(self, record: VolumeCreation, reason: Mapping[str, Any],
                     now: datetime) -> None:
        """Write an event of the group: see ``delayed_work.note``."""
        delayed_work.note(self._database, record.group_uuid, reason, now)

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(
            self._database, VolumeCreationRow, where, values) > 0


def _owned(record: VolumeCreation) -> Sequence[sa.ColumnElement[bool]]:
    return (VolumeCreationRow.group_uuid == record.group_uuid,
            VolumeCreationRow.engine == record.engine)


def _due(now: datetime) -> Sequence[sa.ColumnElement[bool]]:
    """The conditions that an engine has something to do for a group now."""
    group = GroupRow.uuid == VolumeCreationRow.group_uuid
    settled = sa.and_(GroupRow.task.is_(None),
                      GroupRow.status != GroupStatus.PLANNING)
    with_plan = sa.exists().where(group, sa.or_(
        GroupRow.status == GroupStatus.PLANNING, GroupRow.task.is_not(None),
        sa.and_(GroupRow.status.in_(CLAIMABLE), sa.or_(
            GroupRow.lease_expires_at.is_(None),
            GroupRow.lease_expires_at > now))))
    return VolumeCreationRow.due_at <= now, sa.or_(
        sa.and_(VolumeCreationRow.status == CreationStatus.CREATING,
                sa.exists().where(group, settled)),
        sa.not_(with_plan),
        sa.exists().where(
            CreatedVolumeRow.group_uuid == VolumeCreationRow.group_uuid,
            sa.or_(
                CreatedVolumeRow.state == CreatedVolumeState.DELETING,
                sa.and_(
                    CreatedVolumeRow.state == CreatedVolumeState.AVAILABLE,
                    ~sa.exists().where(
                        VolumeRow.group_uuid == CreatedVolumeRow.group_uuid,
                        VolumeRow.path == CreatedVolumeRow.path,
                        VolumeRow.volume_uuid == CreatedVolumeRow.volume_uuid,
                        VolumeRow.unwanted.is_(False))))))


def _unowned(stale_before: datetime) -> sa.ColumnElement[bool]:
    return without_living_engine(
        VolumeCreationRow.engine, VolumeCreationRow.engine_at, stale_before)


def _record(row: VolumeCreationRow) -> VolumeCreation:
    values = {name: getattr(row, name) for name in _FIELDS}
    return VolumeCreation(**{
        **values, 'status': CreationStatus(row.status)})


def _volume(row: CreatedVolumeRow) -> CreatedVolume:
    values = {name: getattr(row, name) for name in _VOLUME_FIELDS}
    return CreatedVolume(**{
        **values, 'state': CreatedVolumeState(row.state),
        'refused_pools': tuple(row.refused_pools)})


def has_plan(group: GroupRecord | None, now: datetime) -> bool:
    """Whether the volumes of a group are wanted: it has a plan, or an engine
    is about to make or to change it."""
    if group is None:
        return False
    if group.status == GroupStatus.PLANNING or group.task is not None:
        return True
    lease = group.lease_expires_at
    return group.status in CLAIMABLE and (lease is None or lease > now)
