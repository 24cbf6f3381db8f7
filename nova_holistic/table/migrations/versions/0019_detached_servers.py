# SPDX-License-Identifier: Apache-2.0
"""Servers that were taken out of the groups that they point at.

Code of the version before neither reads nor writes the new table: it treats a
detached server as the member that its pointer names, if that is free.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0019'
down_revision = '0018'

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_detached_servers',
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_detached_servers_group_uuid'),
            primary_key=True),
        sa.Column('instance_uuid', sa.String(36), primary_key=True),
        sa.Column('detached_at', DATETIME, nullable=False),
        indexes={})
