# SPDX-License-Identifier: Apache-2.0
"""An index for the times of the last changes of the members of a group."""

from nova_holistic.table.migrations import steps

revision = '0032'
down_revision = '0031'


def upgrade() -> None:
    steps.create_index('ix_holistic_members_group_changed_at',
                       'holistic_members', ['group_uuid', 'changed_at'])
