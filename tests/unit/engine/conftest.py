# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable


@pytest.fixture
def table(tmp_path):
    """An empty placement table, in a SQLite file."""
    url = f'sqlite:///{tmp_path}/table.sqlite'
    migration.upgrade(url)
    return PlacementTable(url)
