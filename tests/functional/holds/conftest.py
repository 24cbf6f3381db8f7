# SPDX-License-Identifier: Apache-2.0
import pytest

from nova_holistic.holds.client import HoldClient
from tests.functional.holds.wire import Wire
from tests.functional.placement_service import PlacementService


@pytest.fixture
def placement():
    with PlacementService() as service:
        yield service


@pytest.fixture
def wire(placement):
    return Wire(placement.adapter)


@pytest.fixture
def holds(wire):
    return HoldClient(wire)


@pytest.fixture
def host(placement):
    """A host with room for four small servers."""
    return placement.add_host('cmp-1')
