# SPDX-License-Identifier: Apache-2.0
"""The time for which an observation of a server is valid, and its clock."""

from datetime import datetime, timedelta

import pytest

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.observed_servers import (
    MAX_AGE, ObservedServers, OVERLAP)
from tests.unit.reconcile.nova import CHANGES, Nova

SERVER = '11111111-1111-4111-8111-111111111111'
SECOND = timedelta(seconds=1)


class Clocks:
    """Our clock, and Nova's, which may be behind or ahead."""

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
def observed(nova, clocks):
    """The server was just observed."""
    observed = ObservedServers(NovaInstances(nova.adapter), clocks.ours)
    observed.renew()
    observed.read([SERVER], 'blue')
    return observed


def host(observed):
    """The last observed host of the server; None if it is unknown."""
    view = observed.last(SERVER)
    return view and view.host


@pytest.mark.parametrize('passed, known', [
    (MAX_AGE - SECOND, 'a1'), (MAX_AGE, None), (-SECOND, None)])
def test_an_observation_counts_for_an_hour_of_a_clock_that_goes_forward(
        observed, clocks, passed, known):
    clocks.now += passed
    observed.renew()
    assert host(observed) == known


@pytest.mark.parametrize('behind, known', [
    (OVERLAP, 'b2'), (OVERLAP + SECOND, 'a1')])
def test_changes_are_learned_although_novas_clock_is_behind(
        observed, nova, clocks, behind, known):
    """The clock may go back by at most five minutes."""
    observed.renew()
    clocks.ahead = -behind
    nova.set(SERVER, 'b2')
    clocks.now += SECOND
    observed.renew()
    assert host(observed) == known


def test_changes_before_a_list_that_failed_are_learned_from_the_next(
        observed, nova, clocks):
    nova.set(SERVER, 'b2')
    nova.broken.add(CHANGES)
    clocks.now += 2 * OVERLAP
    with pytest.raises(ServiceFailed):
        observed.renew()
    assert host(observed) == 'a1'
    nova.broken.clear()
    clocks.now += SECOND
    observed.renew()
    assert host(observed) == 'b2'


def test_a_server_that_is_not_needed_any_more_is_forgotten(
        observed, nova, clocks):
    observed.changed()
    observed.forget([SERVER])
    assert host(observed) is None
    assert observed.changed() == {SERVER}
    assert observed.changed() == set()


def test_a_deleted_server_is_forgotten(observed, nova, clocks):
    nova.delete(SERVER)
    clocks.now += SECOND
    observed.renew()
    assert host(observed) is None
    assert observed.read([SERVER], 'blue') == {SERVER: None}
