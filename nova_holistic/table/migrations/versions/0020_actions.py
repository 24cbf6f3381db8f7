# SPDX-License-Identifier: Apache-2.0
"""Actions that the servers of a group require after an update.

Code of the version before neither reads nor writes the new table.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0020'
down_revision = '0019'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_actions',
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_actions_group_uuid'), primary_key=True),
        sa.Column('position', sa.Integer, primary_key=True,
                  autoincrement=False),
        sa.Column('member', PATH, nullable=False),
        sa.Column('instance_uuid', sa.String(36), nullable=False),
        sa.Column('kind', sa.String(16), nullable=False),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('from_host', sa.String(255), nullable=False),
        sa.Column('to_host', sa.String(255), nullable=True),
        sa.Column('from_flavor', sa.String(255), nullable=True),
        sa.Column('to_flavor', sa.String(255), nullable=True),
        sa.Column('reasons', sa.JSON, nullable=False),
        indexes={'ix_holistic_actions_instance_uuid':
                 ['instance_uuid', 'state']})
