# SPDX-License-Identifier: Apache-2.0
"""Dry runs that clients request."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.conditional_updates import (
    returned, update_rows, without_living_engine)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.records import PlanRecord, PlanStatus
from nova_holistic.table.schema.models import PlanRow

_FIELDS = tuple(PlanRecord.__dataclass_fields__)


class Plans:
    """The dry runs in the table. Every method is one short transaction, except
    that ``take`` may use two."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def create(self, record: PlanRecord) -> None:
        """Write a new dry run.

        :raises Duplicate: a dry run with this UUID exists
        """
        values = {name: getattr(record, name) for name in _FIELDS}
        with self._database.writer() as session:
            session.execute(sa.insert(PlanRow).values(
                {**values, 'status': str(record.status),
                 'document': dict(record.document),
                 'extras': list(record.extras) or None}))

    def get(self, plan_uuid: str) -> PlanRecord | None:
        """The dry run with this UUID; None if it does not exist."""
        with self._database.reader() as session:
            row = session.get(PlanRow, plan_uuid)
            return row and _record(row)

    def take(self, plan_uuid: str, engine: str, now: datetime,
             stale_before: datetime) -> PlanRecord | None:
        """Take a plan: the plan that this engine must make; None if a live
        engine makes it, or if it is finished."""
        won = self._update([
            PlanRow.uuid == plan_uuid, PlanRow.status == PlanStatus.PLANNING,
            _unowned(stale_before)], {'engine': engine, 'engine_at': now,
                                      'attempts': PlanRow.attempts + 1})
        return self.get(plan_uuid) if won else None

    def write_heartbeat(self, plan_uuids: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat: the engine still works on the plans."""
        for batch in batches(plan_uuids):
            self._update([PlanRow.uuid.in_(batch),
                          PlanRow.engine == engine], {'engine_at': now})

    def finish(self, plan_uuid: str, engine: str, status: PlanStatus,
               answer: Mapping[str, Any], now: datetime) -> bool:
        """Write the result; False if another engine owns the plan."""
        return self._update(
            [PlanRow.uuid == plan_uuid, PlanRow.engine == engine],
            {'status': str(status), 'answer': dict(answer), 'engine': None,
             'engine_at': None, 'updated_at': now})

    def return_work(self, engine: str, plan_uuid: str | None = None,
                    counted: bool = False) -> None:
        """Let other engines make the plans that this engine has taken.

        :param plan_uuid: UUID of one plan; None means all of them
        :param counted: whether this attempt counts, because an error ended it
        """
        where = [PlanRow.engine == engine]
        if plan_uuid is not None:
            where.append(PlanRow.uuid == plan_uuid)
        self._update(where, {'engine': None, 'engine_at': None,
                             **returned(PlanRow.attempts, counted)})

    def waiting(self, stale_before: datetime, limit: int) -> Sequence[str]:
        """UUIDs of unfinished plans that no live engine makes. The plan that
        has waited longest is first."""
        with self._database.link() as link:
            return tuple(link.scalars(
                sa.select(PlanRow.uuid)
                .where(PlanRow.status == PlanStatus.PLANNING,
                       _unowned(stale_before))
                .order_by(PlanRow.created_at, PlanRow.uuid).limit(limit)))

    @retried
    def forget(self, before: datetime) -> None:
        """Delete plans that were last changed before a time in naive UTC."""
        with self._database.writer() as session:
            session.execute(
                sa.delete(PlanRow).where(PlanRow.updated_at < before)
                .execution_options(synchronize_session=False))

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(self._database, PlanRow, where, values) > 0


def _unowned(stale_before: datetime) -> sa.ColumnElement[bool]:
    return without_living_engine(
        PlanRow.engine, PlanRow.engine_at, stale_before)


def _record(row: PlanRow) -> PlanRecord:
    values = {name: getattr(row, name) for name in _FIELDS}
    return PlanRecord(**{**values, 'status': PlanStatus(row.status),
                         'extras': tuple(row.extras or ())})
