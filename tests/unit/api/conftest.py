# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table import migration
from nova_holistic.table.store import PlacementTable
from tests.unit.api.service import Service


@pytest.fixture
def table(tmp_path):
    """An empty placement table in a SQLite file."""
    url = f'sqlite:///{tmp_path}/table.sqlite'
    migration.upgrade(url)
    return PlacementTable(url)


@pytest.fixture
def start(table):
    """A function that makes a service on the table."""
    def start(**options):
        return Service(table, **options)
    return start


@pytest.fixture
def service(start):
    return start()
