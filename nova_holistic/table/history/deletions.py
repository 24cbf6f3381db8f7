# SPDX-License-Identifier: Apache-2.0
"""Which groups were deleted recently, so that caches of groups need not
compare all groups with the table."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database, retried
from nova_holistic.table.history.events import Transaction
from nova_holistic.table.schema.deleted_groups import DeletedGroupRow

RETENTION = timedelta(days=1)
"""Minimum time for which a deletion is kept. A cache that was not updated for
half of this time reads all groups again."""

_ROW = DeletedGroupRow.__table__


def note(session: Transaction, group_uuid: str) -> None:
    """Write that a group is deleted, in the transaction that deletes it."""
    session.execute(sa.insert(_ROW).values(uuid=group_uuid))


def since(session: orm.Session, moment: datetime) -> Mapping[int, str]:
    """UUIDs of the groups that were deleted at or after a time, by the number
    of the deletion.

    :param moment: naive UTC, by the database's clock
    """
    return {number: uuid for number, uuid in session.execute(
        sa.select(_ROW.c.id, _ROW.c.uuid).where(_ROW.c.deleted_at >= moment))}


@retried
def forget(database: Database, now: datetime) -> None:
    """Delete the rows that are older than ``RETENTION``.

    :param now: naive UTC
    """
    with database.writer() as session:
        session.execute(sa.delete(_ROW).where(
            _ROW.c.deleted_at < now - RETENTION))
