# SPDX-License-Identifier: Apache-2.0
"""The table of the planned volumes of groups."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base, PATH


class VolumeRow(Base):
    """One planned or existing volume of a group: see ``VolumeRecord``.

    The unique key of ``volume_uuid`` lets only one of two simultaneous claims
    for one volume succeed.
    """

    __tablename__ = 'holistic_volumes'
    __table_args__ = (
        sa.UniqueConstraint('group_uuid', 'path',
                            name='uq_holistic_volumes_path'),
        sa.UniqueConstraint('volume_uuid',
                            name='uq_holistic_volumes_volume_uuid'),
        sa.Index('ix_holistic_volumes_capacity', 'state', 'pool', 'size_gb'),
        sa.Index('ix_holistic_volumes_description', 'group_uuid',
                 'description', 'state', 'position'),
        sa.Index('ix_holistic_volumes_state', 'state', 'updated_at'),
    )

    id: orm.Mapped[int] = orm.mapped_column(sa.Integer, primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_volumes_group_uuid'))
    position: orm.Mapped[int]
    path: orm.Mapped[str] = orm.mapped_column(PATH)
    description: orm.Mapped[str] = orm.mapped_column(PATH)
    size_gb: orm.Mapped[int]
    volume_type: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    pool: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    location: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    labels: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    volume_uuid: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    generation: orm.Mapped[int] = orm.mapped_column(
        sa.BigInteger, server_default='0')
    unwanted: orm.Mapped[bool] = orm.mapped_column(server_default=sa.false())
    created_at: orm.Mapped[datetime | None]
    updated_at: orm.Mapped[datetime | None]
