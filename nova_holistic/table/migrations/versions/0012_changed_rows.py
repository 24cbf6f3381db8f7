# SPDX-License-Identifier: Apache-2.0
"""When each group and each member was changed last, by the database's clock.

Code of the version before does not write the new columns. What it changes is
found when the engines compare all groups, some in each pass.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0012'
down_revision = '0011'

DATETIME = sa.DateTime().with_variant(
    mysql.DATETIME(fsp=6), 'mysql', 'mariadb')
TABLES = ('holistic_groups', 'holistic_members')


def upgrade() -> None:
    for table in TABLES:
        steps.add_column(
            table, sa.Column('changed_at', DATETIME, nullable=True))
        steps.create_index(f'ix_{table}_changed_at', table, ['changed_at'])
