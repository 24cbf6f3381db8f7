# SPDX-License-Identifier: Apache-2.0
"""A kept snapshot of a world's hosts that nothing follows."""

from dataclasses import replace

from nova_holistic.model.frozen import FrozenMapping
from tests.world.inventory import RackInventory


class CachedRackInventory(RackInventory):
    """The kept snapshot changes when hosts are marked, when a process knows
    how it has changed their use, or when a complete snapshot is taken, and at
    no other time.

    :ivar complete: number of complete snapshots
    """

    has_cache = True

    def __init__(self, placement, providers, racks):
        super().__init__(placement, providers, racks)
        self.complete = 0
        self._marked = set()
        self._distrusted = False
        self._latest = None

    def snapshot(self):
        self.complete += 1
        self._distrusted = False
        self._marked.clear()
        self._latest = super().snapshot()
        return self._latest

    def cached_snapshot(self):
        if self._latest is None or self._distrusted:
            return self.snapshot()
        if self._marked:
            now = {host.uuid: host for host in super().snapshot().hosts
                   if host.uuid in self._marked}
            self._latest = replace(self._latest, hosts=tuple(
                now.get(host.uuid, host) for host in self._latest.hosts))
            self._marked.clear()
        return self._latest

    def mark_providers(self, uuids):
        self._marked.update(uuids)

    def change_use(self, since, changes):
        if self._latest is not None:
            self._latest = replace(self._latest, hosts=tuple(
                _changed(host, changes[host.uuid]) if host.uuid in changes
                else host for host in self._latest.hosts))

    def invalidate(self):
        self._distrusted = True


def _changed(host, change):
    return replace(
        host, servers=host.servers + change.consumers,
        inventories=FrozenMapping({
            name: replace(each, used=each.used + change.amounts.get(name, 0))
            for name, each in host.inventories.items()}))
