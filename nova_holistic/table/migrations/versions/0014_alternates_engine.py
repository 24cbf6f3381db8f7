# SPDX-License-Identifier: Apache-2.0
"""An index of the engines that find alternates.

An engine that stops returns its groups without a scan of all groups. Code
works without the index, more slowly.
"""

from nova_holistic.table.migrations import steps

revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    steps.create_index('ix_holistic_groups_alternates_engine',
                       'holistic_groups', ['alternates_engine'])
