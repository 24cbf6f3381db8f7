# SPDX-License-Identifier: Apache-2.0
"""How many holds of a group are written while it is planned.

Code of the version before neither reads nor writes the new column.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0013'
down_revision = '0012'


def upgrade() -> None:
    steps.add_column('holistic_groups', sa.Column(
        'holds_written', sa.Integer, nullable=True))
