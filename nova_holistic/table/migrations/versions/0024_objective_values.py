# SPDX-License-Identifier: Apache-2.0
"""Value, bound and gap of the latest plan of a group.

Code of the version before neither reads nor writes the new column. If it plans
a group again, the column still describes the plan before.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0024'
down_revision = '0023'


def upgrade() -> None:
    steps.add_column('holistic_groups', sa.Column(
        'objective_value', sa.JSON, nullable=True))
