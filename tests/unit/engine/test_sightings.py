# SPDX-License-Identifier: Apache-2.0
"""For how long, and by whose clock, what was learned of servers counts."""

from datetime import datetime, timedelta

import pytest

from nova_holistic.engine.instances import NovaInstances
from nova_holistic.engine.sightings import FULL_LOOK, OVERLAP, Sightings
from nova_holistic.inventory.errors import ServiceFailed
from tests.unit.engine.nova import CHANGES, Nova

SERVER = '11111111-1111-4111-8111-111111111111'
SECOND = timedelta(seconds=1)


class Clocks:
    """Ours, and Nova's, which may be behind or ahead."""

    def __init__(self):
        self.now = datetime(2030, 1, 1, 12)
        self.ahead = timedelta()

    def ours(self):
        return self.now

    def novas(self):
        return self.now + self.ahead


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def nova(clocks):
    nova = Nova(clocks.novas)
    nova.set(SERVER, 'a1')
    return nova


@pytest.fixture
def sightings(nova, clocks):
    """The server was seen just now."""
    sightings = Sightings(NovaInstances(nova.adapter), clocks.ours)
    sightings.renew([SERVER])
    sightings.look([SERVER], 'blue')
    return sightings


def host(sightings):
    """Where the server was last seen; None if nothing is known of it."""
    view = sightings.last(SERVER)
    return view and view.host


@pytest.mark.parametrize('passed, known', [
    (FULL_LOOK - SECOND, 'a1'), (FULL_LOOK, None), (-SECOND, None)])
def test_what_was_seen_counts_for_an_hour_of_a_clock_that_goes_forward(
        sightings, clocks, passed, known):
    clocks.now += passed
    sightings.renew([SERVER])
    assert host(sightings) == known


@pytest.mark.parametrize('behind, known', [
    (OVERLAP, 'b2'), (OVERLAP + SECOND, 'a1')])
def test_changes_are_learned_although_novas_clock_is_behind(
        sightings, nova, clocks, behind, known):
    """By five minutes, and no more."""
    sightings.renew([SERVER])
    clocks.ahead = -behind
    nova.set(SERVER, 'b2')
    clocks.now += SECOND
    sightings.renew([SERVER])
    assert host(sightings) == known


def test_changes_before_a_list_that_failed_are_learned_from_the_next(
        sightings, nova, clocks):
    nova.set(SERVER, 'b2')
    nova.broken.add(CHANGES)
    clocks.now += 2 * OVERLAP
    with pytest.raises(ServiceFailed):
        sightings.renew([SERVER])
    assert host(sightings) == 'a1'
    nova.broken.clear()
    clocks.now += SECOND
    sightings.renew([SERVER])
    assert host(sightings) == 'b2'


def test_a_server_that_is_of_no_interest_any_more_is_forgotten(
        sightings, nova, clocks):
    sightings.renew([])
    sightings.renew([SERVER])
    assert host(sightings) is None


def test_a_deleted_server_is_forgotten(sightings, nova, clocks):
    nova.delete(SERVER)
    clocks.now += SECOND
    sightings.renew([SERVER])
    assert host(sightings) is None
    assert sightings.look([SERVER], 'blue') == {SERVER: None}
