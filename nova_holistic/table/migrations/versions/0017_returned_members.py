# SPDX-License-Identifier: Apache-2.0
"""Members that were released because their servers were deleted."""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0017'
down_revision = '0016'


def upgrade() -> None:
    steps.add_column('holistic_members', sa.Column(
        'returned', sa.Boolean, nullable=False, server_default=sa.false()))
