# SPDX-License-Identifier: Apache-2.0
"""The traffic that groups reserve on the uplinks of domains.

Groups whose documents contain a bandwidth relationship are marked, so that
the traffic of existing groups is determined by the first engine that plans
such a group, or by the next pass of the reconciler. Code of the version before
neither reads nor writes the new tables and columns: until all engines are
upgraded, the traffic of groups that it plans is not reserved.
"""

from alembic import op
import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0026'
down_revision = '0025'


def upgrade() -> None:
    steps.create_table(
        'holistic_links',
        sa.Column('link', sa.String(64), primary_key=True),
        sa.Column('domain', sa.JSON, nullable=False),
        sa.Column('mbps', sa.BigInteger, nullable=False), indexes={})
    steps.create_table(
        'holistic_link_demands',
        sa.Column('group_uuid', sa.String(36), primary_key=True),
        sa.Column('link', sa.String(64), primary_key=True),
        sa.Column('mbps', sa.BigInteger, nullable=False), indexes={})
    steps.add_column('holistic_groups', sa.Column(
        'uses_links', sa.Boolean, nullable=False, server_default=sa.false()))
    steps.add_column('holistic_groups', sa.Column(
        'links_version', sa.BigInteger, nullable=False, server_default='0'))
    steps.create_index('ix_holistic_groups_uses_links', 'holistic_groups',
                       ['uses_links'])
    _mark_existing_groups()


def _mark_existing_groups() -> None:
    groups = sa.table(
        'holistic_groups', sa.column('document', sa.JSON),
        sa.column('uses_links', sa.Boolean),
        sa.column('links_version', sa.BigInteger))
    op.get_bind().execute(
        sa.update(groups).where(
            sa.cast(groups.c.document, sa.Text).like('%"bandwidth"%'))
        .values(uses_links=sa.true(), links_version=-1))
