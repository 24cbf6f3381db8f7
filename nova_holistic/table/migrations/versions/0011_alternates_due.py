# SPDX-License-Identifier: Apache-2.0
"""Groups whose members still need alternates, and the engines that find them.

Code of the version before neither reads nor writes the new columns: it writes
alternates together with the members.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps
from nova_holistic.table.schema.models import DATETIME

revision = '0011'
down_revision = '0010'


def upgrade() -> None:
    for column in (
            sa.Column('alternates_due', DATETIME, nullable=True),
            sa.Column('alternates_engine', sa.String(255), nullable=True),
            sa.Column('alternates_engine_at', DATETIME, nullable=True),
            sa.Column('alternates_attempts', sa.Integer, nullable=False,
                      server_default='0')):
        steps.add_column('holistic_groups', column)
    steps.create_index('ix_holistic_groups_alternates_due',
                       'holistic_groups', ['alternates_due', 'uuid'])
