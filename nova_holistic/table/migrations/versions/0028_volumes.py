# SPDX-License-Identifier: Apache-2.0
"""The planned volumes of groups.

Code of the version before neither reads nor writes the new table. It refuses
groups with volumes.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0028'
down_revision = '0027'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_volumes',
        sa.Column('id', sa.Integer, primary_key=True),
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_volumes_group_uuid'), nullable=False),
        sa.Column('position', sa.Integer, nullable=False),
        sa.Column('path', PATH, nullable=False),
        sa.Column('description', PATH, nullable=False),
        sa.Column('size_gb', sa.Integer, nullable=False),
        sa.Column('volume_type', sa.String(255)),
        sa.Column('pool', sa.String(255), nullable=False),
        sa.Column('location', sa.JSON, nullable=False),
        sa.Column('labels', sa.JSON, nullable=False),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('volume_uuid', sa.String(36)),
        sa.Column('generation', sa.BigInteger, nullable=False,
                  server_default='0'),
        sa.Column('unwanted', sa.Boolean, nullable=False,
                  server_default=sa.false()),
        sa.Column('created_at', MOMENT),
        sa.Column('updated_at', MOMENT),
        sa.UniqueConstraint('group_uuid', 'path',
                            name='uq_holistic_volumes_path'),
        sa.UniqueConstraint('volume_uuid',
                            name='uq_holistic_volumes_volume_uuid'),
        indexes={
            'ix_holistic_volumes_capacity': ['state', 'pool', 'size_gb'],
            'ix_holistic_volumes_description': [
                'group_uuid', 'description', 'state', 'position'],
            'ix_holistic_volumes_state': ['state', 'updated_at']})
