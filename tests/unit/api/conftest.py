# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.api.service import Service


@pytest.fixture
def table(tmp_path):
    """An empty placement table in an SQLite file."""
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def start(table):
    """A function that creates a service on the table."""
    def start(**options):
        return Service(table, **options)
    return start


@pytest.fixture
def service(start):
    return start()
