# SPDX-License-Identifier: Apache-2.0
"""The additional answers that a client requests with a plan without holds.

Code of the version before does not know the column: an engine with the old
code answers with the plan alone.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0016'
down_revision = '0015'


def upgrade() -> None:
    steps.add_column('holistic_plans', sa.Column(
        'extras', sa.JSON(none_as_null=True), nullable=True))
