# SPDX-License-Identifier: Apache-2.0
"""Destinations of servers that move, and violations of degraded groups.

Code of the version before neither reads nor writes the new columns.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0010'
down_revision = '0009'


def upgrade() -> None:
    steps.add_column('holistic_members', sa.Column(
        'destination', sa.JSON(none_as_null=True), nullable=True))
    steps.add_column('holistic_groups', sa.Column(
        'violations', sa.JSON(none_as_null=True), nullable=True))
