# SPDX-License-Identifier: Apache-2.0
"""Columns and tables for the API and for several engines: tasks, plans,
engines and statistics.

Code of the version before neither reads nor writes any of it: every new
column has a default or may be absent.
"""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0003'
down_revision = '0002'

KEY = sa.String(255).with_variant(
    mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')

MOMENTS = {
    'holistic_groups': ['lease_expires_at', 'created_at', 'updated_at'],
    'holistic_members': ['updated_at'],
}

INDEXES = {
    'ix_holistic_groups_task': ['task', 'engine_at'],
    'ix_holistic_groups_engine': ['engine'],
    'ix_holistic_groups_by_created_at': ['project_id', 'created_at', 'uuid'],
    'ix_holistic_groups_by_updated_at': ['project_id', 'updated_at', 'uuid'],
    'ix_holistic_groups_by_name': ['project_id', 'name', 'uuid'],
    'ix_holistic_groups_by_status': ['project_id', 'status', 'uuid'],
}


def upgrade() -> None:
    if op.get_bind().dialect.name == 'mysql':
        _moments()
    _groups()
    _plans()
    _statistics()
    _jobs()


def _moments() -> None:
    """MariaDB remembers microseconds, too, as the others do."""
    for table, columns in MOMENTS.items():
        for column in columns:
            op.alter_column(table, column, type_=DATETIME,
                            existing_type=sa.DateTime, existing_nullable=True)


def _groups() -> None:
    # One by one, and with a unique index for a constraint: SQLite would make
    # a new table otherwise, and drop the old one with all its members.
    for column in (
            sa.Column('revision', sa.Integer, nullable=False,
                      server_default='1'),
            sa.Column('idempotency_key', KEY),
            sa.Column('fingerprint', sa.String(64)),
            sa.Column('task', sa.String(16)),
            sa.Column('pending', sa.JSON),
            sa.Column('engine', sa.String(255)),
            sa.Column('engine_at', DATETIME),
            sa.Column('attempts', sa.Integer, nullable=False,
                      server_default='0')):
        steps.add_column('holistic_groups', column)
    steps.create_index('uq_holistic_groups_idempotency_key', 'holistic_groups',
                       ['project_id', 'idempotency_key'], unique=True)
    for name, columns in INDEXES.items():
        steps.create_index(name, 'holistic_groups', columns)


def _plans() -> None:
    steps.create_table(
        'holistic_plans',
        sa.Column('uuid', sa.String(36), primary_key=True),
        sa.Column('project_id', sa.String(255), nullable=False),
        sa.Column('user_id', sa.String(255), nullable=False),
        sa.Column('name', sa.String(255), nullable=False),
        sa.Column('status', sa.String(16), nullable=False),
        sa.Column('document', sa.JSON, nullable=False),
        sa.Column('objective', sa.String(255), nullable=False),
        sa.Column('answer', sa.JSON),
        sa.Column('engine', sa.String(255)),
        sa.Column('engine_at', DATETIME),
        sa.Column('attempts', sa.Integer, nullable=False,
                  server_default='0'),
        sa.Column('created_at', DATETIME),
        sa.Column('updated_at', DATETIME),
        indexes={
            'ix_holistic_plans_status': ['status', 'engine_at'],
            'ix_holistic_plans_updated_at': ['updated_at'],
            'ix_holistic_plans_engine': ['engine']})


def _statistics() -> None:
    steps.create_table(
        'holistic_host_statistics',
        sa.Column('host', KEY, primary_key=True),
        sa.Column('name', KEY, primary_key=True),
        sa.Column('value', sa.Double, nullable=False),
        sa.Column('updated_at', DATETIME),
        indexes={'ix_holistic_host_statistics_updated_at': ['updated_at']})


def _jobs() -> None:
    steps.create_table(
        'holistic_jobs',
        sa.Column('name', sa.String(64), primary_key=True),
        sa.Column('engine', sa.String(255)),
        sa.Column('engine_at', DATETIME),
        sa.Column('done_at', DATETIME), indexes={})
