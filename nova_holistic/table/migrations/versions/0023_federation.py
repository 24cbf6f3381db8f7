# SPDX-License-Identifier: Apache-2.0
"""Parts of groups in other clouds, and credentials of users for these clouds.

Code of the version before neither reads nor writes the new tables.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0023'
down_revision = '0022'

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')
KEY = sa.String(255).with_variant(
    mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_federation_parts',
        sa.Column('idempotency_key', KEY, primary_key=True),
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_federation_parts_group_uuid'), nullable=False),
        sa.Column('child', KEY, nullable=False),
        sa.Column('name', KEY, nullable=False),
        sa.Column('child_group', sa.String(36), nullable=True),
        sa.Column('paths', sa.JSON, nullable=False),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('lease_expires_at', DATETIME, nullable=True),
        sa.Column('instances', sa.JSON, nullable=True),
        sa.Column('updated_at', DATETIME, nullable=False),
        indexes={'ix_holistic_federation_parts_group_uuid': ['group_uuid']})
    steps.create_table(
        'holistic_federation_credentials',
        sa.Column('user_id', KEY, primary_key=True),
        sa.Column('project_id', KEY, primary_key=True),
        sa.Column('child', KEY, primary_key=True),
        sa.Column('credential', sa.Text, nullable=False),
        sa.Column('updated_at', DATETIME, nullable=False),
        indexes={})
