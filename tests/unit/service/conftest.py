# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table.store import PlacementTable
from tests.tables import new_table


@pytest.fixture
def table(tmp_path):
    """An empty placement table in an SQLite file."""
    return PlacementTable(new_table(tmp_path))
