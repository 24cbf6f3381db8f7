# SPDX-License-Identifier: Apache-2.0
"""The tables of groups whose servers an engine creates."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base, NULLABLE_JSON, PATH


class BootRow(Base):
    """The request to create the servers of a group.

    ``open`` is true until the boot has ended and its credential is deleted.
    """

    __tablename__ = 'holistic_boots'
    __table_args__ = (
        sa.Index('ix_holistic_boots_open', 'open', 'created_at',
                 'group_uuid'),
        sa.Index('ix_holistic_boots_engine', 'engine'),
    )

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_boots_group_uuid'),
        primary_key=True)
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    user_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    request_id: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    status: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    rollback: orm.Mapped[bool]
    retries: orm.Mapped[int]
    credential: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    reasons: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    stopping: orm.Mapped[bool]
    open: orm.Mapped[bool]
    engine: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    engine_at: orm.Mapped[datetime | None]
    attempts: orm.Mapped[int]
    created_at: orm.Mapped[datetime]
    updated_at: orm.Mapped[datetime]


class BootServerRow(Base):
    """The server of one member that an engine creates."""

    __tablename__ = 'holistic_boot_servers'

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_boot_servers_group_uuid'),
        primary_key=True)
    path: orm.Mapped[str] = orm.mapped_column(PATH, primary_key=True)
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    server_uuid: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    tries: orm.Mapped[int]
    fault: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    updated_at: orm.Mapped[datetime]
