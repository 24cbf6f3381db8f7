# SPDX-License-Identifier: Apache-2.0
"""The cost of the first snapshot of a cloud and of further snapshots.

Real Nova and Placement in one process on SQLite, hosts in their databases
with inventories, traits, aggregates and servers, and without a nova-compute
for each. Between two snapshots, servers are added on half of the hosts that
change, and removed from the other half. All of this is measured through
Placement's API, and with the driver placement-db, which reads a copy of the
database in a file. The same run also measures operations that snapshots no
longer perform: the list of all hypervisors, and reading every provider one by
one, with its inventories, traits, aggregates and allocations.

Then the program measures the arrays of a plan for a larger cloud in memory:
their creation and their update.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import contextlib
from dataclasses import replace
import pathlib
import sqlite3
import statistics
import time
import uuid

from clouds import CLASSES, cloud as cloud_in_memory
from placement import db_api

from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.inventory.nova.hypervisors import read_hypervisors
from nova_holistic.inventory.placement import PlacementInventory
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider_rows import (
    ProviderRows)
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.topology.aggregates import AggregatesTopology

HOSTS_PER_RACK = 40
PARTS = ('inventories', 'traits', 'aggregates', 'allocations')
SERVER = {'VCPU': 1, 'MEMORY_MB': 2048, 'DISK_GB': 20}
VERSION = '1.38'


class Counting:
    """An adapter that counts requests and the seconds they take."""

    def __init__(self, adapter):
        self._adapter = adapter
        self.clear()

    def clear(self):
        self.requests, self.seconds = 0, 0.0

    def get(self, path, **options):
        started = time.perf_counter()
        try:
            return self._adapter.get(path, **options)
        finally:
            self.requests += 1
            self.seconds += time.perf_counter() - started


class Measured:
    """A cloud, an inventory of it, and what its snapshots cost."""

    def __init__(self, cloud):
        self._cloud = cloud
        self._placement = Counting(cloud.placement)
        self._compute = Counting(cloud.compute)
        self._providers = self._with_room()
        self._consumers = []
        self._copy = pathlib.Path(cloud.directory) / 'placement-copy.sqlite'
        self.copy()
        self.forget()

    def forget(self):
        def inventory(providers):
            return PlacementInventory(
                providers, self._compute,
                AggregatesTopology(['az', 'rack', 'host']))

        self._inventory = inventory(self._placement)
        self._database = inventory(ProviderRows(
            PlacementDatabase(f'sqlite:///{self._copy}')))

    def snapshot(self):
        return self._cost(self._inventory.snapshot)

    def from_database(self):
        return self._cost(self._database.snapshot)

    def hypervisors(self):
        return self._cost(lambda: read_hypervisors(
            ServiceClient('nova', self._compute)))

    def one_by_one(self):
        return self._cost(self._read_all)

    def copy(self):
        """Copy Placement's database to the file that the driver reads."""
        with contextlib.closing(sqlite3.connect(self._copy)) as copy:
            with contextlib.closing(
                    db_api.get_placement_engine().raw_connection()) as source:
                source.driver_connection.backup(copy)
            copy.executescript(
                'DROP TABLE IF EXISTS alembic_version; CREATE TABLE '
                "alembic_version AS SELECT 'a082b8bb98d0' AS version_num")

    def _cost(self, work):
        """Requests to Nova and to Placement; seconds of all, of those to
        Placement, and of this process on a processor."""
        self._compute.clear()
        self._placement.clear()
        started, busy = time.perf_counter(), time.process_time()
        work()
        return (self._compute.requests, self._placement.requests,
                time.perf_counter() - started, self._placement.seconds,
                time.process_time() - busy)

    def _read_all(self):
        listing = self._get('/resource_providers')
        for provider in listing['resource_providers']:
            for part in PARTS:
                self._get(f'/resource_providers/{provider["uuid"]}/{part}')

    def _get(self, path):
        return self._placement.get(path, microversion=VERSION).json()

    def change(self, number):
        """Add or remove servers on this number of hosts in total."""
        come = number - min(number // 2, len(self._consumers))
        leaving = self._consumers[:number - come]
        del self._consumers[:number - come]
        for host, consumer in leaving:
            self._cloud.delete_consumer(consumer)
            self._providers.append(host)
        for host in self._providers[:come]:
            self._consumers.append((host, self._allocate(host)))
        del self._providers[:come]

    def _with_room(self):
        resources_query = ','.join(f'{name}:{amount}' for name, amount
                                   in SERVER.items())
        body = self._get(f'/resource_providers?resources={resources_query}')
        return sorted(item['uuid'] for item in body['resource_providers'])

    def _allocate(self, provider):
        consumer = str(uuid.uuid4())
        self._cloud.placement.put(f'/allocations/{consumer}', json={
            'allocations': {provider: {'resources': SERVER}},
            'project_id': 'other-project', 'user_id': 'other-project',
            'consumer_generation': None, 'consumer_type': 'INSTANCE'})
        return consumer


def main():
    arguments = _parser().parse_args()
    for hosts in arguments.hosts:
        print(f'{hosts} hosts')
        with EmbeddedCloud(()) as cloud:
            cloud.insert_hosts(_hosts(hosts))
            measure(Measured(cloud), arguments)
        print()
    measure_arrays(arguments)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[300, 1000, 3000])
    parser.add_argument('--changed', type=int, nargs='+', default=[0, 10, 100],
                        help='hosts that change between two snapshots')
    parser.add_argument('--repeat', type=int, default=3)
    parser.add_argument('--in-memory', type=int, default=10_000,
                        help='hosts of the cloud in memory')
    return parser


def _hosts(number):
    racks = -(-number // HOSTS_PER_RACK)
    for host in range(number):
        rack = host // HOSTS_PER_RACK
        yield EmbeddedHost(
            f'cmp-{host:05}', zone=f'az{rack * 3 // racks + 1}',
            rack=f'rack{rack:04}', vcpus=32, memory_mb=262144,
            traits=('HW_CPU_X86_AVX2',),
            # Some are full.
            load={'VCPU': min(32, 4 + host % 30), 'MEMORY_MB': 65536})


def measure(measured, arguments):
    print(f'{"snapshot":<22} {"to Nova":>7} {"to Placement":>12} {"runs":>4} '
          f'{"median s":>8} {"min s":>6} {"max s":>6} '
          f'{"Placement s":>11} {"CPU s":>6}')

    def row(name, work, prepare):
        costs = []
        for _ in range(arguments.repeat):
            prepare()
            costs.append(work())
        _print_row(name, costs)

    # The first answer of a service loads modules, which is not measured.
    measured.snapshot()
    row('first', measured.snapshot, measured.forget)
    row('first, placement-db', measured.from_database, measured.forget)
    measured.snapshot()
    # Servers must exist before they can be removed.
    measured.change(max(arguments.changed))
    measured.snapshot()
    measured.copy()
    measured.from_database()
    for number in arguments.changed:
        def change(number=number):
            measured.change(number)
            measured.copy()

        row(f'{number} hosts changed', measured.snapshot, change)
        # Each reader has read all changes so far.
        measured.copy()
        measured.from_database()
        row('with placement-db', measured.from_database, change)
        measured.snapshot()
    row('list of hypervisors', measured.hypervisors, lambda: None)
    row('providers one by one', measured.one_by_one, lambda: None)


def _print_row(name, costs):
    nova, placement = ({cost[i] for cost in costs} for i in (0, 1))
    seconds, in_placement, busy = ([cost[i] for cost in costs]
                                   for i in (2, 3, 4))
    print(f'{name:<22} {_range(nova):>7} {_range(placement):>12} '
          f'{len(costs):>4} {statistics.median(seconds):>8.2f} '
          f'{min(seconds):>6.2f} {max(seconds):>6.2f} '
          f'{statistics.median(in_placement):>11.2f} '
          f'{statistics.median(busy):>6.2f}', flush=True)


def _range(numbers):
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f'{least}-{most}'


def measure_arrays(arguments):
    snapshot = cloud_in_memory(arguments.in_memory, 0.75, 0)
    print(f'{"arrays of " + str(arguments.in_memory):<22} {"runs":>4} '
          f'{"median ms":>9} {"min ms":>7} {"max ms":>7}   [CPU]')
    _print_arrays('from nothing', [
        _arrays(replace(snapshot, lineage={}))
        for _ in range(arguments.repeat)])
    _arrays(snapshot)
    for number in arguments.changed:
        times = []
        for _ in range(arguments.repeat):
            snapshot = _busier(snapshot, number)
            times.append(_arrays(snapshot))
        _print_arrays(f'{number} hosts changed', times)


def _print_arrays(name, times):
    print(f'{name:<22} {len(times):>4} {statistics.median(times):>9.2f} '
          f'{min(times):>7.2f} {max(times):>7.2f}')


def _arrays(snapshot):
    """Milliseconds of work until all arrays of a plan exist."""
    started = time.process_time()
    table = HostTable.of(snapshot)
    for name in CLASSES:
        table.amounts(name)
    for level in snapshot.levels:
        table.division(level)
    # Accessing these attributes creates the arrays.
    assert len(table.enabled) == len(table.index)
    return 1000 * (time.process_time() - started)


def _busier(snapshot, number):
    hosts = list(snapshot.hosts)
    for h in range(0, len(hosts), max(1, len(hosts) // max(number, 1)))[
            :number]:
        hosts[h] = replace(hosts[h], inventories=FrozenMapping({
            name: replace(inventory, used=inventory.used + 1)
            for name, inventory in hosts[h].inventories.items()}))
    return replace(snapshot, hosts=tuple(hosts))


if __name__ == '__main__':
    main()
