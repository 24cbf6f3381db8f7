# SPDX-License-Identifier: Apache-2.0
"""Fixtures for requests to the API, with an engine and a real Placement."""

import pytest

from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from tests.functional.api.storage import pools  # noqa: F401
from tests.functional.engine.world import World
from tests.unit.api.service import Service
from tests.world.leftover_check import leaves_nothing  # noqa: F401


@pytest.fixture
def world(tmp_path):
    with World(tmp_path) as world:
        yield world


@pytest.fixture
def service(world):
    """The API, its engine in this process, and a real Placement."""
    return Service(world.table, DirectEngine(
        world.conf, world.clock, PlanningParts(
            world.table, world.inventory, world.planner, world.lifecycle,
            world.repairer)))
