# SPDX-License-Identifier: Apache-2.0
"""Empty placement tables, copied from a table that alembic has created."""

import functools
import pathlib
import tempfile

from nova_holistic.table.database import Database
from nova_holistic.table import migration
import tests.fast_sqlite  # noqa: F401
import tests.shared_statements  # noqa: F401


def new_table(directory, name='table.sqlite'):
    """Write the SQLite file of an empty placement table; return its URL."""
    file = pathlib.Path(directory) / name
    file.write_bytes(_migrated())
    return f'sqlite:///{file}'


@functools.cache
def _migrated():
    """The content of a file with the newest schema, created once per process.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / 'table.sqlite'
        database = Database(f'sqlite:///{file}')
        migration.upgrade(database)
        # SQLite moves the content of its log to the file.
        database.close()
        return file.read_bytes()
