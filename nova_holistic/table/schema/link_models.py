# SPDX-License-Identifier: Apache-2.0
"""The tables of the traffic on uplinks."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.schema.models import Base


class LinkRow(Base):
    """The traffic that all groups together reserve on the uplink of a domain:
    the sum of the values in ``LinkDemandRow``. See ``changes.link_demands``.

    :ivar link: digest of the domain, because names may be longer than a key
    :ivar domain: list of the level and the names of the domain
    :ivar mbps: reserved traffic in Mbit/s
    """

    __tablename__ = 'holistic_links'

    link: orm.Mapped[str] = orm.mapped_column(
        sa.String(64), primary_key=True)
    domain: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    mbps: orm.Mapped[int] = orm.mapped_column(sa.BigInteger)


class LinkDemandRow(Base):
    """The traffic in Mbit/s that one group reserves on the uplink of a
    domain."""

    __tablename__ = 'holistic_link_demands'

    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), primary_key=True)
    link: orm.Mapped[str] = orm.mapped_column(
        sa.String(64), primary_key=True)
    mbps: orm.Mapped[int] = orm.mapped_column(sa.BigInteger)
