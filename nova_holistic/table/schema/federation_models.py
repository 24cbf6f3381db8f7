# SPDX-License-Identifier: Apache-2.0
"""The tables of a parent: parts of groups in children, and credentials."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base, KEY, NULLABLE_JSON


class PartRow(Base):
    """A group in a child that is a part of a group of this parent: see
    ``nova_holistic.table.coordination.parts.GroupPart``."""

    __tablename__ = 'holistic_federation_parts'
    __table_args__ = (
        sa.Index('ix_holistic_federation_parts_group_uuid', 'group_uuid'),
    )

    idempotency_key: orm.Mapped[str] = orm.mapped_column(
        KEY, primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_federation_parts_group_uuid'))
    child: orm.Mapped[str] = orm.mapped_column(KEY)
    name: orm.Mapped[str] = orm.mapped_column(KEY)
    child_group: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    paths: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    lease_expires_at: orm.Mapped[datetime | None]
    instances: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    pointers: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    child_project: orm.Mapped[str | None] = orm.mapped_column(KEY)
    updated_at: orm.Mapped[datetime]


class ChildCredentialRow(Base):
    """The application credential of a user in a child, encrypted."""

    __tablename__ = 'holistic_federation_credentials'

    user_id: orm.Mapped[str] = orm.mapped_column(KEY, primary_key=True)
    project_id: orm.Mapped[str] = orm.mapped_column(KEY, primary_key=True)
    child: orm.Mapped[str] = orm.mapped_column(KEY, primary_key=True)
    credential: orm.Mapped[str] = orm.mapped_column(sa.Text)
    updated_at: orm.Mapped[datetime]
