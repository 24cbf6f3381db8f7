# SPDX-License-Identifier: Apache-2.0
"""Compiles the statements of the placement table, in a process that forks.
"""

import tempfile

from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table.every_call import call_everything


def compile_statements():
    """Make every call to an SQLite table once, so that forks of this process
    need not compile the statements (see ``tests/shared_statements.py``)."""
    with tempfile.TemporaryDirectory() as directory:
        table = PlacementTable(new_table(directory))
        call_everything(table)
        table.database.close()
