# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the hold client, with a real Placement."""

import pytest

from nova_holistic.holds.client import HoldClient
from tests.functional.holds.faulty_adapter import Wire
from tests.functional.placement_service import PlacementService


@pytest.fixture
def placement():
    with PlacementService() as service:
        yield service


@pytest.fixture
def wire(placement):
    return Wire(placement.adapter)


@pytest.fixture
def waits():
    """Seconds that the client would have waited between attempts."""
    return []


@pytest.fixture
def holds(wire, waits):
    return HoldClient(wire, sleep=waits.append)


@pytest.fixture
def host(placement):
    """A host with capacity for four small servers."""
    return placement.add_host('cmp-1')
