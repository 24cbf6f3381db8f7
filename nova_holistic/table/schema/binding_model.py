# SPDX-License-Identifier: Apache-2.0
"""The table of bindings."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import (
    Base, KEY, NULLABLE_JSON, PATH)


class BindingRow(Base):
    """A server group of Nova or a Heat stack that is bound to a member: see
    ``nova_holistic.table.coordination.bindings.Binding``.

    A server group is bound to at most one member, and a member has at most one
    binding of each kind.

    :ivar stack: name or ID of a Heat stack; NULL for other kinds
    :ivar rules: pairs of a resource and a member; NULL for other kinds
    """

    __tablename__ = 'holistic_bindings'
    __table_args__ = (
        sa.Index('uq_holistic_bindings_path', 'group_uuid', 'kind', 'path',
                 unique=True),
    )

    kind: orm.Mapped[str] = orm.mapped_column(sa.String(16), primary_key=True)
    target: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_bindings_group_uuid'))
    path: orm.Mapped[str] = orm.mapped_column(PATH)
    stack: orm.Mapped[str | None] = orm.mapped_column(KEY)
    rules: orm.Mapped[list[Any] | None] = orm.mapped_column(NULLABLE_JSON)
    created_at: orm.Mapped[datetime]
