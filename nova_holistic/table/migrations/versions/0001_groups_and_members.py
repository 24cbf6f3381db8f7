# SPDX-License-Identifier: Apache-2.0
"""Groups and members."""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0001'
down_revision = None

PATH = sa.String(700).with_variant(
    mysql.VARCHAR(700, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')


def upgrade() -> None:
    _groups()
    _members()


def _groups() -> None:
    steps.create_table(
        'holistic_groups',
        sa.Column('uuid', sa.String(36), primary_key=True),
        sa.Column('name', sa.String(255), nullable=False),
        sa.Column('project_id', sa.String(255), nullable=False),
        sa.Column('user_id', sa.String(255), nullable=False),
        sa.Column('status', sa.String(16), nullable=False),
        sa.Column('document', sa.JSON, nullable=False),
        sa.Column('objective', sa.String(255), nullable=False),
        sa.Column('levels', sa.JSON, nullable=False),
        sa.Column('reasons', sa.JSON, nullable=False),
        sa.Column('lease_expires_at', sa.DateTime),
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        indexes={
            'ix_holistic_groups_project_id': ['project_id'],
            'ix_holistic_groups_status': ['status', 'lease_expires_at']})


def _members() -> None:
    steps.create_table(
        'holistic_members',
        sa.Column('id', sa.Integer, primary_key=True),
        sa.Column('group_uuid', sa.String(36), sa.ForeignKey(
            'holistic_groups.uuid', ondelete='CASCADE',
            name='fk_holistic_members_group_uuid'), nullable=False),
        sa.Column('position', sa.Integer, nullable=False),
        sa.Column('path', PATH, nullable=False),
        sa.Column('description', PATH, nullable=False),
        sa.Column('requirements', sa.JSON, nullable=False),
        sa.Column('host', sa.String(255), nullable=False),
        sa.Column('node', sa.String(255), nullable=False),
        sa.Column('provider', sa.String(36), nullable=False),
        sa.Column('location', sa.JSON, nullable=False),
        sa.Column('labels', sa.JSON, nullable=False),
        sa.Column('hold', sa.String(36), nullable=False),
        sa.Column('held', sa.Boolean, nullable=False),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('instance_uuid', sa.String(36)),
        sa.Column('alternates', sa.JSON, nullable=False),
        sa.Column('updated_at', sa.DateTime),
        sa.UniqueConstraint('group_uuid', 'path',
                            name='uq_holistic_members_path'),
        sa.UniqueConstraint('instance_uuid',
                            name='uq_holistic_members_instance_uuid'),
        indexes={
            'ix_holistic_members_description': [
                'group_uuid', 'description', 'state', 'position'],
            'ix_holistic_members_group_state': ['group_uuid', 'state'],
            'ix_holistic_members_hold': ['hold'],
            'ix_holistic_members_state': ['state', 'held', 'updated_at']})
