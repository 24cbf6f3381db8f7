# SPDX-License-Identifier: Apache-2.0
"""The tables: groups, and a row for each member.

With the chosen lengths, every key fits into the 3072 bytes of a MariaDB index
with four bytes per character.
"""

from datetime import datetime
import random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy import orm

from nova_holistic.table.schema.database_time import DatabaseNow
from nova_holistic.table.schema import list_indexes

MAX_PATH = 700
"""Maximum number of characters of a member's path."""

# By default, MariaDB compares text without regard to case, but db/Node and
# db/node are different paths.
PATH = sa.String(MAX_PATH).with_variant(
    mysql.VARCHAR(MAX_PATH, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

KEY = sa.String(255).with_variant(
    mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')
"""Text that a client chose, compared exactly."""

# Without this option, MariaDB drops fractions of a second.
DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')

# SQLite assigns row numbers only if the key is an INTEGER.
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')

NULLABLE_JSON = sa.JSON(none_as_null=True)


def _changed_at() -> Any:
    """A column with the time of the last write to the row by any statement.

    Only queries use it. The database's clock determines this time. The callers
    determine the times in all other columns.
    """
    return orm.mapped_column(
        DATETIME, default=DatabaseNow(), onupdate=DatabaseNow(), nullable=True,
        deferred=True)


def places_step() -> int:
    """A random increment of the ``places_version`` of a group: see
    ``changes.places_versions``."""
    return random.randint(1, 2**31)


def _places_version(first: Any) -> Any:
    return orm.mapped_column(
        sa.BigInteger, default=first, server_default='0', deferred=True)


class Base(orm.DeclarativeBase):
    """All tables of the placement table's database."""

    type_annotation_map = {datetime: DATETIME}


class GroupRow(Base):
    """A top-level group; times are naive UTC."""

    __tablename__ = 'holistic_groups'
    __table_args__ = (
        sa.Index('ix_holistic_groups_project_id', 'project_id'),
        sa.Index('ix_holistic_groups_status', 'status', 'lease_expires_at'),
        sa.Index('ix_holistic_groups_exclusive', 'exclusive'),
        sa.Index('ix_holistic_groups_uses_links', 'uses_links'),
        sa.Index('ix_holistic_groups_uses_all_hosts', 'uses_all_hosts',
                 'status'),
        sa.Index('ix_holistic_groups_task', 'task', 'engine_at'),
        sa.Index('ix_holistic_groups_engine', 'engine'),
        sa.Index('ix_holistic_groups_alternates_due', 'alternates_due',
                 'uuid'),
        sa.Index('ix_holistic_groups_alternates_engine',
                 'alternates_engine'),
        sa.Index('ix_holistic_groups_changed_at', 'changed_at'),
        sa.Index('uq_holistic_groups_idempotency_key', 'project_id',
                 'idempotency_key', unique=True),
        *list_indexes.indexes(),
    )

    uuid: orm.Mapped[str] = orm.mapped_column(sa.String(36), primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(KEY)
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    user_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    status: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    document: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    objective: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    levels: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    reasons: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    lease_expires_at: orm.Mapped[datetime | None]
    created_at: orm.Mapped[datetime | None]
    updated_at: orm.Mapped[datetime | None]
    exclusive: orm.Mapped[bool] = orm.mapped_column(
        server_default=sa.false())
    revision: orm.Mapped[int] = orm.mapped_column(server_default='1')
    idempotency_key: orm.Mapped[str | None] = orm.mapped_column(KEY)
    fingerprint: orm.Mapped[str | None] = orm.mapped_column(sa.String(64))
    task: orm.Mapped[str | None] = orm.mapped_column(sa.String(16))
    pending: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    engine: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    engine_at: orm.Mapped[datetime | None]
    attempts: orm.Mapped[int] = orm.mapped_column(server_default='0')
    asked: orm.Mapped[int | None]
    violations: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    holds_written: orm.Mapped[int | None]
    objective_value: orm.Mapped[Any | None] = orm.mapped_column(
        NULLABLE_JSON)
    # See coordination.due_alternates.
    alternates_due: orm.Mapped[datetime | None]
    alternates_engine: orm.Mapped[str | None] = orm.mapped_column(
        sa.String(255))
    alternates_engine_at: orm.Mapped[datetime | None]
    alternates_attempts: orm.Mapped[int] = orm.mapped_column(
        server_default='0')
    # See coordination.links.
    uses_links: orm.Mapped[bool] = orm.mapped_column(
        server_default=sa.false(), default=False, deferred=True)
    links_version: orm.Mapped[int] = orm.mapped_column(
        sa.BigInteger, server_default='0', default=0, deferred=True)
    uses_all_hosts: orm.Mapped[bool] = orm.mapped_column(
        server_default=sa.false(), default=False, deferred=True)
    places_version: orm.Mapped[int] = _places_version(places_step)
    changed_at: orm.Mapped[datetime | None] = _changed_at()


class MemberRow(Base):
    """One planned or existing server: its place, its hold and its instance.
    The unique key of ``instance_uuid`` lets only one of two simultaneous
    claims for one instance succeed."""

    __tablename__ = 'holistic_members'
    __table_args__ = (
        sa.UniqueConstraint('group_uuid', 'path',
                            name='uq_holistic_members_path'),
        sa.UniqueConstraint('instance_uuid',
                            name='uq_holistic_members_instance_uuid'),
        sa.Index('ix_holistic_members_changed_at', 'changed_at'),
        sa.Index('ix_holistic_members_description', 'group_uuid',
                 'description', 'state', 'position'),
        sa.Index('ix_holistic_members_group_changed_at', 'group_uuid',
                 'changed_at'),
        sa.Index('ix_holistic_members_group_state', 'group_uuid', 'state'),
        sa.Index('ix_holistic_members_hold', 'hold'),
        sa.Index('ix_holistic_members_host', 'host', 'state'),
        sa.Index('ix_holistic_members_places_version', 'group_uuid',
                 'places_version'),
        sa.Index('ix_holistic_members_state', 'state', 'held', 'updated_at'),
    )

    id: orm.Mapped[int] = orm.mapped_column(sa.Integer, primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_members_group_uuid'))
    position: orm.Mapped[int]
    path: orm.Mapped[str] = orm.mapped_column(PATH)
    description: orm.Mapped[str] = orm.mapped_column(PATH)
    requirements: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    host: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    node: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    provider: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    location: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    labels: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    allocation: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    hold: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    held: orm.Mapped[bool]
    state: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    instance_uuid: orm.Mapped[str | None] = orm.mapped_column(sa.String(36))
    alternates: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    updated_at: orm.Mapped[datetime | None]
    unwanted: orm.Mapped[bool] = orm.mapped_column(server_default=sa.false())
    returned: orm.Mapped[bool] = orm.mapped_column(server_default=sa.false())
    destination: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    places_version: orm.Mapped[int] = _places_version(0)
    changed_at: orm.Mapped[datetime | None] = _changed_at()


class RefusalRow(Base):
    """A host that Nova refused for a member when its server was created."""

    __tablename__ = 'holistic_refusals'
    __table_args__ = (
        sa.Index('ix_holistic_refusals_group_uuid', 'group_uuid'),
    )

    id: orm.Mapped[int] = orm.mapped_column(sa.Integer, primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(
        sa.String(36),
        sa.ForeignKey('holistic_groups.uuid', ondelete='CASCADE',
                      name='fk_holistic_refusals_group_uuid'))
    description: orm.Mapped[str] = orm.mapped_column(PATH)
    host: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    refused_by: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    refused_at: orm.Mapped[datetime]


class EventRow(Base):
    """One change of a group or of its members: see ``events.Event``.

    It has no foreign key, which would make claims of members of one group wait
    for each other. The code that deletes a group deletes its events.
    """

    __tablename__ = 'holistic_events'
    __table_args__ = (
        sa.Index('ix_holistic_events_group_uuid', 'group_uuid', 'id'),
        sa.Index('ix_holistic_events_member', 'group_uuid', 'member', 'id'),
        sa.Index('ix_holistic_events_kind', 'group_uuid', 'kind', 'id'),
        sa.Index('ix_holistic_events_at', 'at'),
    )

    id: orm.Mapped[int] = orm.mapped_column(ROW_ID, primary_key=True)
    group_uuid: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    kind: orm.Mapped[str] = orm.mapped_column(sa.String(32))
    at: orm.Mapped[datetime]
    member: orm.Mapped[str | None] = orm.mapped_column(PATH)
    from_state: orm.Mapped[str | None] = orm.mapped_column(sa.String(16))
    to_state: orm.Mapped[str | None] = orm.mapped_column(sa.String(16))
    host: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    reasons: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    details: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    service: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    request_id: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    user_id: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))


class PlanRow(Base):
    """A dry run: a plan without holds. Old dry runs are deleted."""

    __tablename__ = 'holistic_plans'
    __table_args__ = (
        sa.Index('ix_holistic_plans_status', 'status', 'engine_at'),
        sa.Index('ix_holistic_plans_updated_at', 'updated_at'),
        sa.Index('ix_holistic_plans_engine', 'engine'),
        sa.Index('ix_holistic_plans_project_id', 'project_id'),
    )

    uuid: orm.Mapped[str] = orm.mapped_column(sa.String(36), primary_key=True)
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    user_id: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    name: orm.Mapped[str] = orm.mapped_column(KEY)
    status: orm.Mapped[str] = orm.mapped_column(sa.String(16))
    document: orm.Mapped[Any] = orm.mapped_column(sa.JSON, nullable=False)
    objective: orm.Mapped[str] = orm.mapped_column(sa.String(255))
    answer: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)
    engine: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    engine_at: orm.Mapped[datetime | None]
    attempts: orm.Mapped[int] = orm.mapped_column(server_default='0')
    created_at: orm.Mapped[datetime | None]
    updated_at: orm.Mapped[datetime | None]
    extras: orm.Mapped[Any | None] = orm.mapped_column(NULLABLE_JSON)


class StatisticRow(Base):
    """The last reported value of one statistic of a host."""

    __tablename__ = 'holistic_host_statistics'
    __table_args__ = (
        sa.Index('ix_holistic_host_statistics_updated_at', 'updated_at'),
    )

    host: orm.Mapped[str] = orm.mapped_column(KEY, primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(KEY, primary_key=True)
    value: orm.Mapped[float] = orm.mapped_column(sa.Double)
    updated_at: orm.Mapped[datetime | None]


class JobRow(Base):
    """A periodic task that only one engine performs at a time."""

    __tablename__ = 'holistic_jobs'

    name: orm.Mapped[str] = orm.mapped_column(sa.String(64), primary_key=True)
    engine: orm.Mapped[str | None] = orm.mapped_column(sa.String(255))
    engine_at: orm.Mapped[datetime | None]
    done_at: orm.Mapped[datetime | None]
