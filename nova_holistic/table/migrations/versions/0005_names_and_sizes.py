# SPDX-License-Identifier: Apache-2.0
"""Names may contain any character and are compared exactly. A new column
contains the number of members that a task requests.

Code of the version before neither reads nor writes the new column: its tasks
request all members of the group.
"""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0005'
down_revision = '0004'


def upgrade() -> None:
    if op.get_bind().dialect.name == 'mysql':
        for table in ('holistic_groups', 'holistic_plans'):
            op.alter_column(
                table, 'name', type_=mysql.VARCHAR(
                    255, charset='utf8mb4', collation='utf8mb4_bin'),
                existing_type=sa.String(255), existing_nullable=False)
    steps.add_column('holistic_groups', sa.Column('asked', sa.Integer))
