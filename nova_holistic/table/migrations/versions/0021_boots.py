# SPDX-License-Identifier: Apache-2.0
"""Groups whose servers an engine creates.

Code of the version before neither reads nor writes the new tables: its engines
create no servers, and its API accepts no such request.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0021'
down_revision = '0020'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def _group(name: str) -> sa.Column:
    return sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
        'holistic_groups.uuid', ondelete='CASCADE', name=name),
        primary_key=True)


def upgrade() -> None:
    steps.create_table(
        'holistic_boots',
        _group('fk_holistic_boots_group_uuid'),
        sa.Column('project_id', sa.String(255), nullable=False),
        sa.Column('user_id', sa.String(255), nullable=False),
        sa.Column('request_id', sa.String(255)),
        sa.Column('status', sa.String(16), nullable=False),
        sa.Column('rollback', sa.Boolean, nullable=False),
        sa.Column('retries', sa.Integer, nullable=False),
        sa.Column('credential', sa.Text),
        sa.Column('reasons', sa.JSON(none_as_null=True)),
        sa.Column('stopping', sa.Boolean, nullable=False),
        sa.Column('open', sa.Boolean, nullable=False),
        sa.Column('engine', sa.String(255)),
        sa.Column('engine_at', DATETIME),
        sa.Column('attempts', sa.Integer, nullable=False),
        sa.Column('created_at', DATETIME, nullable=False),
        sa.Column('updated_at', DATETIME, nullable=False),
        indexes={
            'ix_holistic_boots_open': ['open', 'created_at', 'group_uuid'],
            'ix_holistic_boots_engine': ['engine']})
    steps.create_table(
        'holistic_boot_servers',
        _group('fk_holistic_boot_servers_group_uuid'),
        sa.Column('path', PATH, primary_key=True),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('server_uuid', sa.String(36)),
        sa.Column('tries', sa.Integer, nullable=False),
        sa.Column('fault', sa.Text),
        sa.Column('updated_at', DATETIME, nullable=False),
        indexes={})
