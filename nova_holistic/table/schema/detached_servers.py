# SPDX-License-Identifier: Apache-2.0
"""The table of servers that were detached from their groups."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base


class DetachedServerRow(Base):
    """A server that was detached from the group that its pointer names."""

    __tablename__ = 'holistic_detached_servers'

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_detached_servers_group_uuid'),
        primary_key=True)
    instance_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), primary_key=True)
    detached_at: orm.Mapped[datetime]
