# SPDX-License-Identifier: Apache-2.0
"""Engines as they are deployed: threads, processes and a broker."""

import itertools

import pytest

from nova_holistic.table.database import Database
from nova_holistic.table import migration
from tests.plan_checks import every_plan_is_checked  # noqa: F401
from tests.services.engine.world import EngineWorld
from tests.services.placement import PlacementServer
from tests.services.postgresql import PostgreSQL
from tests.services.rabbit import RabbitBroker
from tests.world.leftover_check import leaves_nothing  # noqa: F401

TEMPLATE = 'migrated'
"""Name of a database with an empty placement table, which tests copy."""
_numbers = itertools.count()


@pytest.fixture(scope='session')
def placement(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp('placement')) as server:
        yield server


@pytest.fixture(scope='session')
def broker():
    with RabbitBroker() as broker:
        yield broker


@pytest.fixture(scope='session')
def postgresql():
    """A server with the database ``TEMPLATE``."""
    with PostgreSQL() as server:
        template = Database(server.create(TEMPLATE))
        migration.upgrade(template)
        # PostgreSQL copies no database with a connection.
        template.close()
        yield server


@pytest.fixture(params=['sqlite', 'postgresql'])
def table_url(request):
    """The URL of an empty placement table; None means an SQLite file of the
    world."""
    if request.param == 'sqlite':
        yield None
        return
    server = request.getfixturevalue('postgresql')
    name = f'engine_{next(_numbers)}'
    yield server.copy(TEMPLATE, name)
    server.drop(name)


@pytest.fixture
def world(tmp_path, placement, table_url):
    with EngineWorld(tmp_path, placement, table_url) as world:
        yield world


@pytest.fixture
def rabbit_world(tmp_path, placement, broker):
    with EngineWorld(
            tmp_path, placement, transport_url=broker.url) as world:
        yield world
