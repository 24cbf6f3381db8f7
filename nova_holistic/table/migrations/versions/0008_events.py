# SPDX-License-Identifier: Apache-2.0
"""The history of groups.

Code of the version before neither reads nor writes the new table.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0008'
down_revision = '0007'

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_events',
        sa.Column('id', ROW_ID, primary_key=True),
        sa.Column('group_uuid', sa.String(36), nullable=False),
        sa.Column('kind', sa.String(32), nullable=False),
        sa.Column('at', DATETIME, nullable=False),
        sa.Column('member', PATH),
        sa.Column('from_state', sa.String(16)),
        sa.Column('to_state', sa.String(16)),
        sa.Column('host', sa.String(255)),
        sa.Column('reasons', sa.JSON, nullable=False),
        sa.Column('details', sa.JSON, nullable=False),
        sa.Column('service', sa.String(16), nullable=False),
        sa.Column('request_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        indexes={'ix_holistic_events_group_uuid': ['group_uuid', 'id'],
                 'ix_holistic_events_at': ['at']})
