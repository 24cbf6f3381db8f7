# SPDX-License-Identifier: Apache-2.0
"""The snapshots that an inventory reads from a real cloud, and its
requests."""

from collections import Counter
import threading

from nova_holistic.inventory.placement import PlacementInventory
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.functional.call_counts import UUID


class Counting:
    """An adapter that counts the GET requests by their kind."""

    def __init__(self, adapter):
        self._adapter = adapter
        self.requests = Counter()
        self._lock = threading.Lock()

    def get(self, path, **options):
        name = path.split('?')[0].strip('/').split('/')
        one = name[0] == 'resource_providers' and len(name) == 3
        with self._lock:
            self.requests[f'one/{name[2]}' if one else UUID.sub(
                'UUID', '/'.join(name))] += 1
        return self._adapter.get(path, **options)


class Watch:
    """An inventory over a cloud, and the requests of its last snapshot."""

    def __init__(self, cloud, threads=1, providers=None):
        """:param providers: a source of providers instead of Placement's API
        """
        self._adapters = Counting(cloud.placement), Counting(cloud.compute)
        placement, compute = self._adapters
        self._inventory = PlacementInventory(
            providers or placement, compute, AggregatesTopology(
                ['az', 'rack', 'host'], ['power_feed']), threads)

    def snapshot(self):
        for adapter in self._adapters:
            adapter.requests.clear()
        return self._inventory.snapshot()

    def hosts(self):
        return {host.name: host for host in self.snapshot().hosts}

    def used(self, host):
        inventories = self.hosts()[host].inventories
        return {name: inventory.used
                for name, inventory in inventories.items() if inventory.used}

    @property
    def requests(self):
        return sum((a.requests for a in self._adapters), Counter())

    @property
    def reread(self):
        """The number of providers that the last snapshot read with their
        consumers."""
        return self.requests['one/allocations']
