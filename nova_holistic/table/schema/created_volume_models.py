# SPDX-License-Identifier: Apache-2.0
"""The tables of volumes that an engine creates.

Their rows remain when the group is deleted, until no volume is left that an
engine has to delete. So they have no foreign key to the group.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base, PATH


class VolumeCreationRow(Base):
    """The creation of the volumes of one group: see ``VolumeCreation``."""

    __tablename__ = 'holistic_volume_creations'
    __table_args__ = (
        sa.Index('ix_holistic_volume_creations_due', 'due_at', 'group_uuid'),
        sa.Index('ix_holistic_volume_creations_engine', 'engine'),
    )

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), primary_key=True)
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    user_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    request_id: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    status: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    credential: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    due_at: orm.Mapped[datetime]
    engine: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    engine_at: orm.Mapped[datetime | None]
    updated_at: orm.Mapped[datetime]


class CreatedVolumeRow(Base):
    """One volume that an engine creates: see ``CreatedVolume``."""

    __tablename__ = 'holistic_created_volumes'

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_volume_creations.group_uuid',
                      ondelete='CASCADE',
                      name='fk_holistic_created_volumes_group_uuid'),
        primary_key=True)
    path: orm.Mapped[str] = orm.mapped_column(PATH, primary_key=True)
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    attempt: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    attempted_at: orm.Mapped[datetime | None]
    volume_uuid: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    seen_at: orm.Mapped[str | None] = orm.mapped_column(sa.String(64))
    tries: orm.Mapped[int]
    fault: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    refused_pools: orm.Mapped[Any] = orm.mapped_column(
        sa.JSON, nullable=False)
    updated_at: orm.Mapped[datetime]
