# SPDX-License-Identifier: Apache-2.0
"""Indexes for pages of the events of one member or of one kind.

The code of the previous version works without the new indexes, and so does
this code.
"""

from nova_holistic.table.migrations import steps

revision = '0035'
down_revision = '0034'

INDEXES = {
    'ix_holistic_events_member': ['group_uuid', 'member', 'id'],
    'ix_holistic_events_kind': ['group_uuid', 'kind', 'id'],
}


def upgrade() -> None:
    for name, columns in INDEXES.items():
        steps.create_index(name, 'holistic_events', columns)
