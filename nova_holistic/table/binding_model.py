# SPDX-License-Identifier: Apache-2.0
"""The table of bindings."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.models import Base, PATH


class BindingRow(Base):
    """A resource of another service that stands for a member in hints.

    A server group of Nova is bound to at most one member, and a member has at
    most one binding of each kind.
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
    created_at: orm.Mapped[datetime]
