# SPDX-License-Identifier: Apache-2.0
"""The fixtures of tests/unit/table, with database servers instead of SQLite
files."""

import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.table import migration
from nova_holistic.table.schema import models
from nova_holistic.table.store import PlacementTable
from tests.services.mariadb import MariaDB
from tests.services.postgresql import PostgreSQL
from tests.unit.table.conftest import shop  # noqa: F401

SERVERS = {'mariadb': MariaDB, 'postgresql': PostgreSQL}
_numbers = itertools.count()


@pytest.fixture(scope='session', params=SERVERS)
def server(request):
    """Each database server in turn."""
    with SERVERS[request.param]() as server:
        yield server


@pytest.fixture(scope='session')
def migrated(server):
    """The URL of a database that all tests of the server use one after the
    other."""
    url = server.create('holistic')
    migration.upgrade(url)
    return url


@pytest.fixture
def table_url(migrated):
    """The URL of an empty placement table."""
    return _emptied(migrated)


@pytest.fixture(scope='module')
def module_table_url(migrated):
    """The URL of a table that the tests of a module share. It is empty before
    the first test. A module that uses it must not use ``table_url``."""
    return _emptied(migrated)


def _emptied(url):
    engine = sa.create_engine(url)
    with engine.begin() as link:
        for each in reversed(models.Base.metadata.sorted_tables):
            link.execute(sa.delete(each))
    engine.dispose()
    return url


@pytest.fixture
def empty_url(server):
    """The URL of a database without tables."""
    name = f'empty_{next(_numbers)}'
    yield server.create(name)
    server.drop(name)


@pytest.fixture
def table(table_url):
    """An empty placement table."""
    table = PlacementTable(table_url)
    yield table
    table.database.engine.dispose()
