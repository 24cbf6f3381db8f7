# SPDX-License-Identifier: Apache-2.0
"""Reads the history of groups page by page, and deletes old events."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import MAX_BATCH_SIZE
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history.events import Event, Kind
from nova_holistic.table.schema.models import EventRow


@dataclass(frozen=True, slots=True)
class Page:
    """The selected events of a group and their order. None selects all events.

    :ivar limit: maximum number of events
    :ivar marker: ID of the last event of the previous page
    :ivar since: naive UTC; earlier events are not selected
    :ivar member: path of a member
    :ivar kind: value of a ``Kind``
    """

    group_uuid: str
    limit: int
    marker: int | None = None
    since: datetime | None = None
    member: str | None = None
    kind: str | None = None
    descending: bool = False


class History:
    """The events in the table. Every method is one short transaction or a
    few."""

    def __init__(self, database: Database):
        self._database = database

    def read(self, page: Page) -> tuple[Event, ...]:
        """Events in the order in which they were written, or in the opposite
        order. A marker whose event was deleted still has its position.

        If a member or a kind is selected, other events are not read. But
        earlier events than ``since`` are read, because the order of writing is
        not exactly that of the times.
        """
        row = EventRow
        where = [row.group_uuid == page.group_uuid]
        if page.marker is not None:
            where.append(row.id < page.marker if page.descending
                         else row.id > page.marker)
        if page.member is not None:
            where.append(row.member == page.member)
        if page.kind is not None:
            # A member has few events. In this form, databases do not use the
            # index of kinds.
            kind = (row.kind if page.member is None
                    else sa.func.coalesce(row.kind, row.kind))
            where.append(kind == page.kind)
        if page.since is not None:
            where.append(row.at >= page.since)
        order = row.id.desc() if page.descending else row.id.asc()
        with self._database.reader() as session:
            return tuple(map(_event, session.scalars(
                sa.select(row).where(*where).order_by(order)
                .limit(page.limit))))

    def prune(self, before: datetime) -> int:
        """Delete old events in batches.

        :param before: naive UTC; events before this time are deleted
        :returns: number of deleted events
        """
        deleted = 0
        while True:
            with self._database.reader() as session:
                ids = session.scalars(
                    sa.select(EventRow.id).where(EventRow.at < before)
                    .order_by(EventRow.at).limit(MAX_BATCH_SIZE)).all()
            if not ids:
                return deleted
            deleted += self._delete(ids)

    @retried
    def _delete(self, ids: Any) -> int:
        with self._database.writer() as session:
            return session.execute(
                sa.delete(EventRow).where(EventRow.id.in_(ids))
                .execution_options(synchronize_session=False)).rowcount


def _event(row: EventRow) -> Event:
    return Event(
        group_uuid=row.group_uuid, kind=Kind(row.kind), at=row.at,
        member=row.member, from_state=row.from_state, to_state=row.to_state,
        host=row.host, reasons=tuple(row.reasons), details=row.details,
        service=row.service, request_id=row.request_id, user_id=row.user_id,
        id=row.id)
