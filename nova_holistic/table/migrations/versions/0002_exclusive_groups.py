# SPDX-License-Identifier: Apache-2.0
"""Exclusive groups, and an index of members by host.

Existing groups have no policy ``exclusive``.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    steps.add_column('holistic_groups', sa.Column(
        'exclusive', sa.Boolean, nullable=False, server_default=sa.false()))
    steps.create_index('ix_holistic_groups_exclusive', 'holistic_groups',
                       ['exclusive'])
    steps.create_index('ix_holistic_members_host', 'holistic_members',
                       ['host', 'state'])
