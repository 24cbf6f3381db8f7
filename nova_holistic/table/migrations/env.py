# SPDX-License-Identifier: Apache-2.0
"""Alembic runs this for every command; the connection comes from
``nova_holistic.table.migration``."""

from alembic import context

from nova_holistic.table.migration import VERSION_TABLE
from nova_holistic.table.schema import models

context.configure(
    connection=context.config.attributes['connection'],
    target_metadata=models.Base.metadata, version_table=VERSION_TABLE,
    # SQLite cannot alter most parts of a table. Alembic copies it to a new
    # table instead.
    render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
