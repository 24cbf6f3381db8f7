# SPDX-License-Identifier: Apache-2.0
"""Snapshots with the statistics that were measured on their hosts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
import threading

import pytest

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.inventory.statistics_inventory import StatisticsInventory
from nova_holistic.messaging.errors import HostUnknown
from nova_holistic.service.statistics_writer import StatisticsWriter
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table

NOON = datetime(2030, 1, 1, 12)


class Cloud(CloudInventory):
    """Two hosts, of which the first has a statistic in the inventory."""

    def __init__(self):
        self.looks = 0
        self.meanwhile = lambda: None
        self.names = ['cmp-1', 'cmp-2']
        self._latest = self._look()

    def _look(self):
        return parse_inventory({'levels': ['host'], 'hosts': [
            {'name': name, 'resources': {'VCPU': {'total': 4}},
             'statistics': {'fans': 3, 'heat': 1} if name == 'cmp-1' else {}}
            for name in self.names]})

    def snapshot(self):
        self.looks += 1
        self.meanwhile()
        if [h.name for h in self._latest.hosts] != self.names:
            self._latest = self._look()
        return self._latest


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now

    def seconds(self):
        return (self.now - NOON).total_seconds()

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cloud():
    return Cloud()


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def statistics(cloud, table, clock):
    return StatisticsWriter(cloud, table, clock, clock.seconds)


@pytest.fixture
def measured(cloud, table, clock):
    return StatisticsInventory(
        cloud, table.statistics.since, clock, timedelta(seconds=60))


def statistics_of(snapshot):
    return {host.name: dict(host.statistics) for host in snapshot.hosts}


def test_measured_statistics_replace_those_of_the_inventory(
        measured, statistics):
    statistics.put('cmp-1', {'heat': 70.5})
    statistics.put('cmp-2', {'load': 0.25})
    assert statistics_of(measured.snapshot()) == {
        'cmp-1': {'fans': 3.0, 'heat': 70.5}, 'cmp-2': {'load': 0.25}}


def test_outdated_statistics_are_ignored(measured, statistics, clock):
    statistics.put('cmp-2', {'load': 0.25})
    clock.wait(61)
    assert statistics_of(measured.snapshot())['cmp-2'] == {}


def test_hosts_without_new_statistics_are_the_same_objects(
        measured, statistics):
    statistics.put('cmp-2', {'load': 0.25})
    one = measured.snapshot()
    statistics.put('cmp-2', {'load': 0.25})
    assert all(a is b for a, b in zip(one.hosts, measured.snapshot().hosts))
    statistics.put('cmp-2', {'load': 0.5})
    assert [a is b for a, b in zip(one.hosts, measured.snapshot().hosts)] == [
        True, False]


def test_an_unknown_host_is_refused(statistics, table):
    with pytest.raises(HostUnknown, match="'cmp-3'"):
        statistics.put('cmp-3', {'load': 0.25})
    assert table.statistics.since(NOON) == {}


def test_a_new_host_is_soon_accepted(statistics, cloud, clock, table):
    statistics.put('cmp-1', {'load': 1.0})
    cloud.names.append('cmp-3')
    clock.wait(6)
    statistics.put('cmp-3', {'load': 2.0})
    assert table.statistics.since(NOON)['cmp-3'] == {'load': 2.0}


def test_statistics_of_known_hosts_need_no_new_host_list(
        statistics, cloud, clock):
    for _ in range(20):
        statistics.put('cmp-1', {'load': 1.0})
        with pytest.raises(HostUnknown):
            statistics.put('cmp-9', {'load': 1.0})
        clock.wait(0.1)
    assert cloud.looks == 1


def slowed(cloud):
    """Make reads of the cloud signal their start and wait for the test."""
    looking, seen = threading.Event(), threading.Event()

    def slowly():
        looking.set()
        assert seen.wait(600)

    cloud.meanwhile = slowly
    return looking, seen


@pytest.mark.parametrize('age', [100, 400])
def test_known_hosts_can_report_during_a_read_of_the_hosts(
        statistics, cloud, clock, age):
    statistics.put('cmp-1', {'heat': 1.0})
    clock.wait(age)
    looking, seen = slowed(cloud)
    with ThreadPoolExecutor(2) as pool:
        try:
            other_server = pool.submit(statistics.put, 'cmp-9', {'heat': 1.0})
            assert looking.wait(300)
            pool.submit(statistics.put, 'cmp-1', {'heat': 2.0}).result(300)
        finally:
            seen.set()
        with pytest.raises(HostUnknown):
            other_server.result(300)
    assert cloud.looks == 2


def test_concurrent_reports_read_the_hosts_once(statistics, cloud):
    looking, seen = slowed(cloud)
    with ThreadPoolExecutor(4) as pool:
        shown = [pool.submit(statistics.put, 'cmp-2', {'heat': n})
                 for n in range(4)]
        assert looking.wait(300)
        seen.set()
        for each in shown:
            each.result(300)
    assert cloud.looks == 1
