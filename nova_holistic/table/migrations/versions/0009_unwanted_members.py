# SPDX-License-Identifier: Apache-2.0
"""Whether a member was released while a server had it.

Code of the version before neither reads nor writes the new column. Such a
member is planned again when its server is deleted, as before.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0009'
down_revision = '0008'


def upgrade() -> None:
    steps.add_column('holistic_members', sa.Column(
        'unwanted', sa.Boolean, nullable=False, server_default=sa.false()))
