# SPDX-License-Identifier: Apache-2.0
"""The table of groups that were deleted recently."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.database_time import DatabaseNow
from nova_holistic.table.schema.models import Base, ROW_ID


class DeletedGroupRow(Base):
    """A group that was deleted. Caches remove the group when they read this
    row, because a deleted row has no time of its last change.

    :ivar id: a number, because two groups may have the same UUID in turn
    :ivar deleted_at: naive UTC, by the database's clock
    """

    __tablename__ = 'holistic_deleted_groups'
    __table_args__ = (
        sa.Index('ix_holistic_deleted_groups_deleted_at', 'deleted_at'),
    )

    id: orm.Mapped[int] = orm.mapped_column(ROW_ID, primary_key=True)
    uuid: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    deleted_at: orm.Mapped[datetime] = orm.mapped_column(
        default=DatabaseNow())
