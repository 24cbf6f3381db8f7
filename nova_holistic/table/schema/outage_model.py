# SPDX-License-Identifier: Apache-2.0
"""The table of unavailable hosts."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base


class HostOutageRow(Base):
    """A host that engines found unavailable: see ``outages.HostOutages``.

    :ivar since: time when the outage began; NULL when the host is available
        again
    :ivar given_up: whether members have lost their places on the host
    """

    __tablename__ = 'holistic_host_outages'

    host: orm.Mapped[str] = orm.mapped_column(
        sa.String(255), primary_key=True)
    since: orm.Mapped[datetime | None]
    given_up: orm.Mapped[bool]
