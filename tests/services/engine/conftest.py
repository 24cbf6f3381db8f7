# SPDX-License-Identifier: Apache-2.0
"""Engines as they are deployed: threads, processes, a broker."""

import pytest

from tests.judging import every_plan_is_judged  # noqa: F401
from tests.services.engine.world import EngineWorld
from tests.services.placement import PlacementServer
from tests.services.rabbit import RabbitBroker


@pytest.fixture(scope='session')
def placement(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp('placement')) as server:
        yield server


@pytest.fixture(scope='session')
def broker():
    with RabbitBroker() as broker:
        yield broker


@pytest.fixture
def world(tmp_path, placement):
    with EngineWorld(tmp_path, placement) as world:
        yield world


@pytest.fixture
def rabbit_world(tmp_path, placement, broker):
    with EngineWorld(
            tmp_path, placement, transport_url=broker.url) as world:
        yield world
