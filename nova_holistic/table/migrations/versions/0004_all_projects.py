# SPDX-License-Identifier: Apache-2.0
"""Indexes for pages of all projects' groups, and for a project's plans.

The code of the previous version works without the new indexes, and so does
this code.
"""

from nova_holistic.table.migrations import steps

revision = '0004'
down_revision = '0003'

INDEXES = {
    'ix_holistic_groups_all_by_created_at': ['created_at', 'uuid'],
    'ix_holistic_groups_all_by_updated_at': ['updated_at', 'uuid'],
    'ix_holistic_groups_all_by_name': ['name', 'uuid'],
    'ix_holistic_groups_all_by_status': ['status', 'uuid'],
}


def upgrade() -> None:
    for name, columns in INDEXES.items():
        steps.create_index(name, 'holistic_groups', columns)
    steps.create_index('ix_holistic_plans_project_id', 'holistic_plans',
                       ['project_id'])
