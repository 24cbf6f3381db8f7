# SPDX-License-Identifier: Apache-2.0
"""Engines as they are deployed: threads, processes and a broker."""

import itertools

import pytest

from tests.plan_checks import every_plan_is_checked  # noqa: F401
from tests.services.engine.world import EngineWorld
from tests.services.placement import PlacementServer
from tests.services.postgresql import PostgreSQL
from tests.services.rabbit import RabbitBroker
from tests.world.leftover_check import leaves_nothing  # noqa: F401

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
    with PostgreSQL() as server:
        yield server


@pytest.fixture(params=['sqlite', 'postgresql'])
def table_url(request):
    """The URL of an empty database; None means an SQLite file of the world."""
    if request.param == 'sqlite':
        yield None
        return
    server = request.getfixturevalue('postgresql')
    name = f'engine_{next(_numbers)}'
    yield server.create(name)
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
