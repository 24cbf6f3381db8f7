# SPDX-License-Identifier: Apache-2.0
"""A Placement and placement tables for processes that are killed."""

from importlib import import_module

import pytest
import sqlalchemy as sa

from nova_holistic.table import migration
from nova_holistic.table.schema import models
from tests.services.crash.cases import CASES, SHORT
from tests.services.crash.parts import Site
from tests.services.crash.world import CrashWorld
from tests.services.placement import PlacementServer
from tests.tables import new_table

HOSTS = ('a1', 'a2', 'b1', 'b2')
VCPUS = 2

SERVERS = {'mariadb': 'MariaDB', 'postgresql': 'PostgreSQL'}
"""Names of classes in ``tests.services``. Only long runs need the drivers of
both databases."""


def pytest_generate_tests(metafunc):
    """``--effort=full`` runs all cases, on each kind of database."""
    full = metafunc.config.getoption('effort') == 'full'
    if 'point' in metafunc.fixturenames:
        cases = CASES if full else SHORT
        metafunc.parametrize('scenario, point', cases, ids=[
            f'{scenario.prepare.__name__}-{point}'
            for scenario, point in cases])
    if 'crash_database' in metafunc.fixturenames:
        metafunc.parametrize('crash_database', [
            'sqlite', *(SERVERS if full else [])], scope='session')


@pytest.fixture(scope='session')
def crash_placement(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp('placement')) as server:
        yield server


@pytest.fixture(scope='session')
def crash_hosts(crash_placement):
    """The UUID of each host's provider, by the name of the host."""
    return crash_placement.add_hosts(HOSTS, VCPUS, VCPUS * 512)


@pytest.fixture(scope='session')
def crash_server(crash_database):
    """The URL of a migrated database on a server; None means an SQLite
    file."""
    if crash_database == 'sqlite':
        yield None
        return
    module = import_module(f'tests.services.{crash_database}')
    with getattr(module, SERVERS[crash_database])() as server:
        url = server.create('crash')
        migration.upgrade(url)
        yield url


@pytest.fixture
def crash_table(tmp_path, crash_server):
    """The URL of an empty placement table."""
    if crash_server is None:
        return new_table(tmp_path)
    engine = sa.create_engine(crash_server)
    with engine.begin() as link:
        for each in reversed(models.Base.metadata.sorted_tables):
            link.execute(sa.delete(each))
    engine.dispose()
    return crash_server


@pytest.fixture
def crash_world(tmp_path, crash_placement, crash_hosts, crash_table):
    world = CrashWorld(Site(
        crash_table, crash_placement.endpoint, crash_hosts, VCPUS,
        moves=str(tmp_path / 'moves.json'),
        created=str(tmp_path / 'created.json')))
    yield world
    world.close()
