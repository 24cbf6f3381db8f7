# SPDX-License-Identifier: Apache-2.0
"""The times at which an engine handles the changes that notifications
reported."""

import threading

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.service import reported_changes
from nova_holistic.service.reported_changes import ReportedChanges
from nova_holistic.table.errors import TableError


class Reconciler:
    """Records the calls; each call returns the next of the given results."""

    def __init__(self):
        self.looks = []
        self.answers = []
        self.looked = threading.Semaphore(0)

    def check_servers(self, servers):
        self._record(sorted(servers))
        answer = self.answers.pop(0) if self.answers else ()
        if isinstance(answer, Exception):
            raise answer
        return frozenset(answer)

    def check_hosts(self):
        self._record('hosts')

    def _record(self, look):
        self.looks.append(look)
        self.looked.release()

    def wait(self, number):
        for _ in range(number):
            assert self.looked.acquire(timeout=300)
        # No other call follows.
        assert not self.looked.acquire(timeout=0.3)
        return self.looks


class Inventory(CloudInventory):
    """Records the hosts that it must read again."""

    def __init__(self):
        self.marked = []

    def snapshot(self):
        raise AssertionError('reports read nothing themselves')

    def mark_hosts(self, names):
        self.marked.append(sorted(names))

    def mark_nova(self):
        self.marked.append('nova')


@pytest.fixture
def reconciler():
    return Reconciler()


@pytest.fixture
def inventory():
    return Inventory()


@pytest.fixture
def changes(reconciler, inventory, monkeypatch):
    monkeypatch.setattr(
        reported_changes, 'DELAYS', (0.05, 0.05, 0.05, 0.05))
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], project='nova-holistic')
    found = ReportedChanges(conf, reconciler, inventory)
    yield found
    found.stop()


def test_servers_reported_together_are_read_together(
        changes, reconciler):
    for uuid in ('b', 'a', 'b'):
        changes.server_changed(uuid)
    changes.start()
    assert reconciler.wait(1) == [['a', 'b']]


def test_a_server_that_is_not_settled_is_read_again(
        changes, reconciler):
    reconciler.answers = [['a'], ['a'], []]
    changes.server_changed('a')
    changes.server_changed('b')
    changes.start()
    assert reconciler.wait(3) == [['a', 'b'], ['a'], ['a']]


def test_a_server_that_stays_unsettled_is_left_to_the_passes(
        changes, reconciler):
    reconciler.answers = [['a']] * 9
    changes.server_changed('a')
    changes.start()
    assert reconciler.wait(4) == [['a']] * 4


def test_an_error_leaves_the_servers_to_the_passes_and_ends_no_thread(
        changes, reconciler):
    reconciler.answers = [TableError('away'), RuntimeError('bug'), []]
    changes.start()
    for uuid in 'abc':
        changes.server_changed(uuid)
        assert reconciler.looked.acquire(timeout=300)
    assert reconciler.looks == [['a'], ['b'], ['c']]


def test_many_changes_of_hosts_cause_one_read_in_each_interval(
        changes, reconciler):
    changes.start()
    changes.hosts_changed()
    changes.hosts_changed()
    reconciler.wait(1)
    changes.hosts_changed()
    assert reconciler.wait(0) == ['hosts']


def test_reported_hosts_are_marked_immediately(changes, inventory):
    """The hosts are marked before the thread that reads them has begun."""
    changes.use_changed({'b', 'a'})
    changes.hosts_changed()
    assert inventory.marked == [['a', 'b'], 'nova']
