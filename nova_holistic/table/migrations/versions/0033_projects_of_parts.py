# SPDX-License-Identifier: Apache-2.0
"""The projects of groups in the children of a parent.

Code of the version before neither reads nor writes the new column.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0033'
down_revision = '0032'

KEY = sa.String(255).with_variant(
    mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')


def upgrade() -> None:
    steps.add_column('holistic_federation_parts',
                     sa.Column('child_project', KEY, nullable=True))
