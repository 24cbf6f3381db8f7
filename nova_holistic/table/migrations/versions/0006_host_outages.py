# SPDX-License-Identifier: Apache-2.0
"""The time since which each host has been unavailable.

Code of the version before neither reads nor writes the new table.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0006'
down_revision = '0005'

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def upgrade() -> None:
    steps.create_table(
        'holistic_host_outages',
        sa.Column('host', sa.String(255), primary_key=True),
        sa.Column('since', DATETIME),
        sa.Column('given_up', sa.Boolean, nullable=False),
        indexes={})
