# SPDX-License-Identifier: Apache-2.0
"""The table of actions that servers of a group require."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base, PATH


class ActionRow(Base):
    """An action of a group: see ``nova_holistic.model.action.Action``.

    Engines carry out the actions of a group in the order of their positions.
    """

    __tablename__ = 'holistic_actions'
    __table_args__ = (
        sa.Index('ix_holistic_actions_instance_uuid', 'instance_uuid',
                 'state'),
    )

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_actions_group_uuid'),
        primary_key=True)
    position: orm.Mapped[int] = orm.mapped_column(
        primary_key=True, autoincrement=False)
    member: orm.Mapped[str] = orm.mapped_column(PATH)
    instance_uuid: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    kind: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    from_host: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    to_host: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    from_flavor: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    to_flavor: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    reasons: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
