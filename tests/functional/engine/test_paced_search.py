# SPDX-License-Identifier: Apache-2.0
"""The search for holds without a row leaves time to the other work of the
cloud."""

import pytest

from nova_holistic.holds.client import HoldClient
from nova_holistic.reconcile.orphan_holds import OrphanHolds
from nova_holistic.reconcile.pace import LONGEST_PAUSE, Pace
from tests.functional.engine.test_orphans import Counted


class SlowPlacement(Counted):
    """Each request takes some time by a clock of the test.

    :ivar now: seconds
    :ivar seconds: duration of each request
    """

    def __init__(self, adapter, seconds):
        super().__init__(adapter)
        self.now = 0.0
        self.seconds = seconds
        self.pauses = []
        self.stops_after = None

    def request(self, path, method, **kwargs):
        self.now += self.seconds
        return super().request(path, method, **kwargs)

    def wait(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds
        return len(self.pauses) == self.stops_after

    def checked(self):
        """The providers that were checked since the last call."""
        found = [path.split('/')[2] for _, path in self.made
                 if path.startswith('/resource_providers/')]
        self.made.clear()
        return found


def search(world, placement):
    orphans = OrphanHolds(
        world.conf, world.table, HoldClient(placement), world.clock)

    def sweep():
        return orphans.sweep(world.holds.providers(), Pace(
            placement.wait, lambda: placement.now))

    return sweep


@pytest.mark.parametrize('seconds, share', [
    (0.01, 0.25), (0.1, 0.25), (1.0, 1 / (1 + LONGEST_PAUSE))])
def test_the_search_uses_a_quarter_of_the_time(world, seconds, share):
    """Unless Placement is so slow that the pauses would become too long."""
    placement = SlowPlacement(world.placement.adapter, seconds)
    assert search(world, placement)() == 0
    hosts = len(world.hosts)
    assert sorted(placement.checked()) == sorted(world.hosts.values())
    assert hosts * seconds / placement.now == pytest.approx(share)


def test_a_search_ends_if_the_engine_stops_and_the_next_one_continues(world):
    placement = SlowPlacement(world.placement.adapter, 0.1)
    sweep = search(world, placement)
    placement.stops_after = 2
    sweep()
    first = placement.checked()
    assert len(first) == 2
    placement.stops_after = None
    sweep()
    second = placement.checked()
    # Two hosts have not changed since they were checked. They are checked
    # again after the others, because the pass has requests left.
    assert set(second[:-2]) == set(world.hosts.values()) - set(first)
