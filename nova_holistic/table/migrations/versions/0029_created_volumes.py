# SPDX-License-Identifier: Apache-2.0
"""Volumes that an engine creates.

Code of the version before neither reads nor writes the new tables.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0029'
down_revision = '0028'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_volume_creations',
        sa.Column('group_uuid', sa.String(36), primary_key=True),
        sa.Column('project_id', sa.String(255), nullable=False),
        sa.Column('user_id', sa.String(255), nullable=False),
        sa.Column('request_id', sa.String(255)),
        sa.Column('status', sa.String(16), nullable=False),
        sa.Column('credential', sa.Text),
        sa.Column('due_at', MOMENT, nullable=False),
        sa.Column('engine', sa.String(255)),
        sa.Column('engine_at', MOMENT),
        sa.Column('updated_at', MOMENT, nullable=False),
        indexes={
            'ix_holistic_volume_creations_due': ['due_at', 'group_uuid'],
            'ix_holistic_volume_creations_engine': ['engine']})
    steps.create_table(
        'holistic_created_volumes',
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_volume_creations.group_uuid', ondelete='CASCADE',
            name='fk_holistic_created_volumes_group_uuid'),
            primary_key=True),
        sa.Column('path', PATH, primary_key=True),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('attempt', sa.String(36)),
        sa.Column('attempted_at', MOMENT),
        sa.Column('volume_uuid', sa.String(36)),
        sa.Column('seen_at', sa.String(64)),
        sa.Column('tries', sa.Integer, nullable=False),
        sa.Column('fault', sa.Text),
        sa.Column('refused_pools', sa.JSON, nullable=False),
        sa.Column('updated_at', MOMENT, nullable=False),
        indexes={})
