# SPDX-License-Identifier: Apache-2.0
"""Which members of exclusive groups have changed their places.

Schedulers read these members again. Code of the version before does not write
the new columns: a scheduler that was started with the new code does not see
what an engine with the old code changes, until the group changes again.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0015'
down_revision = '0014'


def upgrade() -> None:
    for table in ('holistic_groups', 'holistic_members'):
        steps.add_column(table, sa.Column(
            'places_version', sa.BigInteger, nullable=False,
            server_default='0'))
    steps.create_index('ix_holistic_members_places_version',
                       'holistic_members', ['group_uuid', 'places_version'])
