# SPDX-License-Identifier: Apache-2.0
"""Groups that keep others out, and members by their host.

No group made before could ask for that.
"""

from alembic import op
import sqlalchemy as sa

revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    op.add_column('holistic_groups', sa.Column(
        'exclusive', sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index('ix_holistic_groups_exclusive', 'holistic_groups',
                    ['exclusive'])
    op.create_index('ix_holistic_members_host', 'holistic_members',
                    ['host', 'state'])
