# SPDX-License-Identifier: Apache-2.0
"""Which groups have a policy that depends on all hosts of the cloud.

Existing groups with the policy ``spread`` are marked. Code of the version
before does not mark the groups that it plans: for these, a scheduler reads all
hosts when the first create needs them.
"""

from alembic import op
import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0030'
down_revision = '0029'


def upgrade() -> None:
    steps.add_column('holistic_groups', sa.Column(
        'uses_all_hosts', sa.Boolean, nullable=False,
        server_default=sa.false()))
    steps.create_index('ix_holistic_groups_uses_all_hosts', 'holistic_groups',
                       ['uses_all_hosts', 'status'])
    _mark_existing_groups()


def _mark_existing_groups() -> None:
    groups = sa.table(
        'holistic_groups', sa.column('document', sa.JSON),
        sa.column('uses_all_hosts', sa.Boolean))
    op.get_bind().execute(
        sa.update(groups).where(
            sa.cast(groups.c.document, sa.Text).like('%"spread"%'))
        .values(uses_all_hosts=sa.true()))
