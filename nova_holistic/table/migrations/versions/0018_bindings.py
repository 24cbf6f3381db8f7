# SPDX-License-Identifier: Apache-2.0
"""Bindings of server groups of Nova to members.

Code of the version before neither reads nor writes the new table: its
schedulers let Nova schedule the servers of a bound server group.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0018'
down_revision = '0017'

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_bindings',
        sa.Column('kind', sa.String(16), primary_key=True),
        sa.Column('target', sa.String(36), primary_key=True),
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_bindings_group_uuid'), nullable=False),
        sa.Column('path', PATH, nullable=False),
        sa.Column('created_at', DATETIME, nullable=False),
        indexes={})
    steps.create_index(
        'uq_holistic_bindings_path', 'holistic_bindings',
        ['group_uuid', 'kind', 'path'], unique=True)
