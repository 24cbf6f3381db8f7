# SPDX-License-Identifier: Apache-2.0
"""Which groups were deleted recently.

Code of the version before does not note the groups that it deletes: engines
find these when they compare all groups, some in each pass.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0031'
down_revision = '0030'

MOMENT = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql', 'mariadb')
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')


def upgrade() -> None:
    steps.create_table(
        'holistic_deleted_groups',
        sa.Column('id', ROW_ID, primary_key=True),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('deleted_at', MOMENT, nullable=False),
        indexes={'ix_holistic_deleted_groups_deleted_at': ['deleted_at']})
