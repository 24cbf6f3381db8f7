# SPDX-License-Identifier: Apache-2.0
"""Bindings of Heat stacks, with rules for their servers.

Code of the version before does not read rows of this kind when a server is
created. It lists them as bindings of an unknown kind, which fails: upgrade
the API and the engines before you bind a stack.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_holistic.table.migrations import steps

revision = '0022'
down_revision = '0021'

STACK = sa.String(255).with_variant(
    mysql.VARCHAR(255, charset='utf8mb4', collation='utf8mb4_bin'),
    'mysql', 'mariadb')


def upgrade() -> None:
    steps.add_column('holistic_bindings',
                     sa.Column('stack', STACK, nullable=True))
    steps.add_column('holistic_bindings',
                     sa.Column('rules', sa.JSON, nullable=True))
