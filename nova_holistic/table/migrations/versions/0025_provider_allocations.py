# SPDX-License-Identifier: Apache-2.0
"""The providers that give a member its resources, if they are not the root
provider of its host alone.

Code of the version before holds and claims resources of root providers only:
upgrade schedulers and engines before you create members that use others.
"""

import sqlalchemy as sa

from nova_holistic.table.migrations import steps

revision = '0025'
down_revision = '0024'


def upgrade() -> None:
    steps.add_column('holistic_members',
                     sa.Column('allocation', sa.JSON, nullable=True))
