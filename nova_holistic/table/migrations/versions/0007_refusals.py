# SPDX-License-Identifier: Apache-2.0
"""Hosts that Nova refused for members.

Code of the version before neither reads nor writes the new table.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0007'
down_revision = '0006'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_refusals',
        sa.Column('id', sa.Integer, primary_key=True),
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_refusals_group_uuid'), nullable=False),
        sa.Column('description', PATH, nullable=False),
        sa.Column('host', sa.String(255), nullable=False),
        sa.Column('refused_by', sa.String(255), nullable=False),
        sa.Column('refused_at', DATETIME, nullable=False),
        indexes={'ix_holistic_refusals_group_uuid': ['group_uuid']})
