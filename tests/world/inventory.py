# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a world's hosts."""

from collections import Counter

from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping


class RackInventory(InventoryDriver):
    """The hosts, with what Placement says is used of them.

    :ivar racks: rack of each host, by the host's name
    :ivar stale: what others take between snapshot and plan: called with the
        number of the snapshot, from 1, once that is taken
    :ivar taken: number of snapshots
    :ivar down: names of hosts that take no servers
    :ivar gone: names of hosts that the inventory does not list
    :ivar known_server_groups: of Nova, by UUID
    """

    def __init__(self, placement, providers, racks):
        """
        :param placement: PlacementCalls, which have added the hosts
        :param providers: UUID of each host's provider, by the host's name
        :param racks: rack of each host, by the host's name
        """
        self._placement = placement
        self._providers = providers
        self.racks = racks
        self.stale = lambda number: None
        self.taken = 0
        self.down = set()
        self.gone = set()
        self.known_server_groups = {}

    @classmethod
    def from_conf(cls, conf, **adapters):
        raise TypeError('only tests make this inventory')

    def snapshot(self):
        hosts = tuple(self._host(name, rack) for name, rack
                      in self.racks.items() if name not in self.gone)
        self.taken += 1
        self.stale(self.taken)
        return Snapshot(('rack', 'host'), hosts)

    def server_groups(self, uuids):
        return {uuid: self.known_server_groups[uuid] for uuid in uuids
                if uuid in self.known_server_groups}

    def _host(self, name, rack):
        provider = self._providers[name]
        consumers = self._placement.consumers(provider)
        used = Counter()
        for each in consumers.values():
            used.update(each['resources'])
        return Host(
            name, f'{name}.example.org', provider, (rack,),
            FrozenMapping({
                kind: Inventory(total=total, used=used[kind])
                for kind, total in self._placement.room[provider].items()}),
            labels=FrozenMapping({'power': name[-1]}),
            servers=len(consumers), enabled=name not in self.down)
