# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders


@pytest.fixture
def empty_url(tmp_path):
    """The URL of a database without tables."""
    return f'sqlite:///{tmp_path}/empty.sqlite'


@pytest.fixture
def table_url(tmp_path):
    """The URL of an empty placement table in an SQLite file."""
    return new_table(tmp_path)


@pytest.fixture(scope='module')
def module_table_url(tmp_path_factory):
    """The URL of a table that the tests of a module share. It is empty before
    the first test."""
    return new_table(tmp_path_factory.mktemp('module'))


@pytest.fixture
def table(table_url):
    """An empty placement table."""
    return PlacementTable(table_url)


@pytest.fixture
def shop(table):
    """A planned group of a web server and three database nodes."""
    return builders.planned(table, web=None, node=3)
