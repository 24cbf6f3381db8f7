# SPDX-License-Identifier: Apache-2.0
"""The clouds and groups of members in children that are themselves parents.

Code of the version before neither reads nor writes the new column.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0027'
down_revision = '0026'


def upgrade() -> None:
    steps.add_column('holistic_federation_parts',
                     sa.Column('pointers', sa.JSON, nullable=True))
