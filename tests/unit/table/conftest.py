# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable
from tests.unit.table import builders


@pytest.fixture
def table(tmp_path):
    """An empty placement table in a SQLite file."""
    url = f'sqlite:///{tmp_path}/table.sqlite'
    migration.upgrade(url)
    return PlacementTable(url)


@pytest.fixture
def shop(table):
    """A planned group: a web server, and three counted database nodes."""
    return builders.planned(table, web=None, node=3)
