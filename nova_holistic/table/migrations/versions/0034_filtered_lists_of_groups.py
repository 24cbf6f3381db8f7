# SPDX-License-Identifier: Apache-2.0
"""Indexes for pages of groups that are selected by their status or name.

The code of the previous version works with and without the new indexes. This
code needs them on MariaDB, because statements contain their names.
"""

from nova_holistic.table.migrations import steps

revision = '0034'
down_revision = '0033'

INDEXES = {
    'ix_holistic_groups_by_status_and_created_at': [
        'project_id', 'status', 'created_at', 'uuid'],
    'ix_holistic_groups_by_status_and_updated_at': [
        'project_id', 'status', 'updated_at', 'uuid'],
    'ix_holistic_groups_by_status_and_name': [
        'project_id', 'status', 'name', 'uuid'],
    'ix_holistic_groups_by_name_and_created_at': [
        'project_id', 'name', 'created_at', 'uuid'],
    'ix_holistic_groups_all_by_status_and_created_at': [
        'status', 'created_at', 'uuid'],
    'ix_holistic_groups_all_by_status_and_updated_at': [
        'status', 'updated_at', 'uuid'],
    'ix_holistic_groups_all_by_status_and_name': ['status', 'name', 'uuid'],
    'ix_holistic_groups_all_by_name_and_created_at': [
        'name', 'created_at', 'uuid'],
}


def upgrade() -> None:
    for name, columns in INDEXES.items():
        steps.create_index(name, 'holistic_groups', columns)
