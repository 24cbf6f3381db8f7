# SPDX-License-Identifier: Apache-2.0
"""Boots, and the engines that perform them: see ``boot_records``.

Each write of an engine is conditional on its ownership of the boot.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.boot_records import (
    BootRecord, BootRequest, BootServer, BootServerState, BootStatus)
from nova_holistic.table.changes import transitions
from nova_holistic.table.conditional_updates import (
    returned, update_in, update_rows, without_living_engine)
from nova_holistic.table.coordination import delayed_work
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState)
from nova_holistic.table.schema.boot_models import BootRow, BootServerRow
from nova_holistic.table.schema.models import GroupRow, MemberRow

_WITHOUT_ENGINE = {'engine': None, 'engine_at': None}
_FIELDS = tuple(BootRecord.__dataclass_fields__)
MAX_FAULT = 1000
"""Maximum number of stored characters of a fault."""


@dataclass(frozen=True, slots=True)
class BootMember:
    """The columns of a member that are required to create its server."""

    state: MemberState
    instance_uuid: str | None


def add(session: orm.Session, group: GroupRecord,
        request: BootRequest) -> None:
    """Write a boot in the transaction that writes its group."""
    now = group.created_at
    session.execute(sa.insert(BootRow).values(
        group_uuid=group.uuid, project_id=group.project_id,
        user_id=group.user_id, request_id=request.request_id,
        status=str(BootStatus.WAITING), rollback=request.rollback,
        retries=request.retries, credential=request.credential,
        stopping=False, open=True, attempts=0, created_at=now,
        updated_at=now))


class Boots:
    """The boots in the table. Every method is one short transaction, except
    that ``take`` may use two."""

    def __init__(self, database: Database):
        self._database = database

    def get(self, group_uuid: str) -> BootRecord | None:
        """The boot of a group; None if the client creates the servers."""
        with self._database.reader() as session:
            row = session.get(BootRow, group_uuid)
            return row and _record(row)

    def servers(self, group_uuid: str) -> Sequence[BootServer]:
        """The servers in the order of their paths; empty until an engine
        begins."""
        with self._database.reader() as session:
            return tuple(
                BootServer(row.path, BootServerState(row.state),
                           row.server_uuid, row.tries, row.fault)
                for row in session.scalars(
                    sa.select(BootServerRow)
                    .where(BootServerRow.group_uuid == group_uuid)
                    .order_by(BootServerRow.path)))

    def member(self, group_uuid: str, path: str) -> BootMember | None:
        """A member of a group; None if the group does not have it."""
        with self._database.reader() as session:
            row = session.execute(
                sa.select(MemberRow.state, MemberRow.instance_uuid).where(
                    MemberRow.group_uuid == group_uuid,
                    MemberRow.path == path)).first()
            return row and BootMember(MemberState(row[0]), row[1])

    def waiting(self, stale_before: datetime, limit: int) -> Sequence[str]:
        """UUIDs of groups with an open boot on which no live engine works, if
        the group is planned or cannot be planned, or if the boot is stopped.
        The group with the oldest boot is first."""
        with self._database.reader() as session:
            return tuple(session.scalars(
                sa.select(BootRow.group_uuid)
                .join(GroupRow, GroupRow.uuid == BootRow.group_uuid)
                .where(
                    BootRow.open == sa.true(), _unowned(stale_before), sa.or_(
                        BootRow.stopping.is_(True),
                        sa.and_(GroupRow.task.is_(None),
                                GroupRow.status != GroupStatus.PLANNING)))
                .order_by(BootRow.created_at, BootRow.group_uuid)
                .limit(limit)))

    def take(self, group_uuid: str, engine: str, now: datetime,
             stale_before: datetime) -> BootRecord | None:
        """Take a boot: the boot that this engine now owns; None if a live
        engine owns it, or if it is closed."""
        won = self._update(
            [BootRow.group_uuid == group_uuid, BootRow.open == sa.true(),
             _unowned(stale_before)],
            {'engine': engine, 'engine_at': now,
             'attempts': BootRow.attempts + 1})
        record = self.get(group_uuid) if won else None
        return record if record and record.engine == engine else None

    def write_heartbeat(self, group_uuids: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat for boots on which the engine works."""
        for batch in batches(group_uuids):
            self._update([BootRow.group_uuid.in_(batch),
                          BootRow.engine == engine], {'engine_at': now})

    def return_work(self, engine: str, group_uuid: str | None = None,
                    counted: bool = False) -> None:
        """Let other engines continue the work.

        :param group_uuid: None means everything that the engine has taken
        :param counted: whether this attempt counts, because an error ended it
        """
        where = [BootRow.engine == engine]
        if group_uuid is not None:
            where.append(BootRow.group_uuid == group_uuid)
        self._update(where, {
            **returned(BootRow.attempts, counted), **_WITHOUT_ENGINE})

    @retried
    def stop(self, group_uuid: str, revision: int | None = None) -> bool:
        """Prevent the creation of further servers of the group, if the boot
        is open and the group has the revision.

        :param revision: None means any
        :returns: whether the boot is open
        """
        is_open = [BootRow.group_uuid == group_uuid, BootRow.open == sa.true()]
        # Few groups have a boot. A read costs less than a write.
        with self._database.link() as link:
            if link.scalar(sa.select(BootRow.group_uuid).where(
                    *is_open)) is None:
                return False
        with self._database.writer() as session:
            return not transitions.lock_revision(
                session, group_uuid, revision) or update_in(
                    session, BootRow, is_open, {'stopping': True}) > 0

    @retried
    def begin(self, record: BootRecord, paths: Collection[str],
              now: datetime) -> bool:
        """Write a row for each server to create; False if another engine
        owns the boot, and nothing is written."""
        with self._database.writer() as session:
            if not self._change(session, record, BootStatus.CREATING, {}, now):
                return False
            for batch in batches(paths):
                session.execute(sa.insert(BootServerRow.__table__), [
                    {'group_uuid': record.group_uuid, 'path': path,
                     'state': str(BootServerState.WAITING), 'tries': 0,
                     'updated_at': now} for path in batch])
            return True

    @retried
    def change(self, record: BootRecord, status: BootStatus,
               reasons: Sequence[Mapping[str, str]], now: datetime) -> bool:
        """Change the status of a boot; False if another engine owns it.

        The attempts of a rollback are counted from its beginning.
        """
        values = {'reasons': [dict(reason) for reason in reasons] or None}
        if status == BootStatus.ROLLING_BACK:
            values['attempts'] = 1
        with self._database.writer() as session:
            return self._change(session, record, status, values, now)

    def note_failure(self, record: BootRecord, reason: Mapping[str, Any],
                     now: datetime) -> None:
        """Write an event of the group: see ``delayed_work.note``."""
        delayed_work.note(self._database, record.group_uuid, reason, now)

    def close(self, record: BootRecord) -> bool:
        """Close a boot that has ended, and delete its credential from the
        table; False if another engine owns the boot."""
        return self._update(
            [BootRow.group_uuid == record.group_uuid,
             BootRow.engine == record.engine],
            {'open': False, 'credential': None, **_WITHOUT_ENGINE})

    @retried
    def change_server(self, record: BootRecord, before: BootServer,
                      after: BootServer, now: datetime) -> bool:
        """Change the row of a server; False if another engine owns the boot.

        :param before: the row that was read
        """
        fault = after.fault and after.fault[:MAX_FAULT]
        with self._database.writer() as session:
            # This locks the boot and changes nothing: the next engine takes
            # the boot, and then reads the server, after this change.
            if not update_in(session, BootRow, [
                    BootRow.group_uuid == record.group_uuid,
                    BootRow.engine == record.engine],
                    {'engine': BootRow.engine}):
                return False
            done = session.execute(
                sa.update(BootServerRow).where(
                    BootServerRow.group_uuid == record.group_uuid,
                    BootServerRow.path == before.path)
                .values(state=str(after.state), tries=after.tries,
                        server_uuid=after.server_uuid, fault=fault,
                        updated_at=now)
                .execution_options(synchronize_session=False)).rowcount == 1
            if done and before.state != after.state:
                events.add(session, [events.Event(
                    record.group_uuid, events.Kind.BOOT_SERVER, now,
                    member=before.path, from_state=str(before.state),
                    to_state=str(after.state), reasons=tuple(
                        [events.reason(before.path, fault)] if fault else ()),
                    details={'server': after.server_uuid,
                             'tries': after.tries})])
            return done

    @staticmethod
    def _change(session: orm.Session, record: BootRecord, status: BootStatus,
                values: Mapping[str, Any], now: datetime) -> bool:
        done = session.execute(
            sa.update(BootRow).where(
                BootRow.group_uuid == record.group_uuid,
                BootRow.engine == record.engine)
            .values(status=str(status), updated_at=now, **values)
            .execution_options(synchronize_session=False)).rowcount == 1
        if done:
            events.add(session, [events.Event(
                record.group_uuid, events.Kind.BOOT_STATUS, now,
                from_state=str(record.status), to_state=str(status),
                reasons=tuple(events.reason(reason['at'], reason['message'])
                              for reason in values.get('reasons') or ()))])
        return done

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(self._database, BootRow, where, values) > 0


def _unowned(stale_before: datetime) -> sa.ColumnElement[bool]:
    return without_living_engine(
        BootRow.engine, BootRow.engine_at, stale_before)


def _record(row: BootRow) -> BootRecord:
    values = {name: getattr(row, name) for name in _FIELDS}
    return BootRecord(**{
        **values, 'status': BootStatus(row.status),
        'reasons': tuple(row.reasons or ())})
