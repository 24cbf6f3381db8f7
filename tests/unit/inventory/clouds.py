# SPDX-License-Identifier: Apache-2.0
"""A cloud in memory, with the data of Nova and Placement that an inventory
reads."""

from dataclasses import dataclass, field, replace

from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.inventory.cloud_reader import CloudReader
from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.topology.aggregates import AggregatesTopology
from nova_holistic.topology.base import Aggregate

DISABLED = 'COMPUTE_STATUS_DISABLED'


@dataclass
class Cloud:
    """The current state of the cloud. Host h1 has the provider with UUID
    h1."""

    used: dict[str, int] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    disabled: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    racks: dict[str, str] = field(default_factory=dict)
    flavors: set[str] = field(default_factory=set)

    def computes(self):
        return tuple(Compute(name, name, name, name, name not in self.down)
                     for name in sorted(self.used))

    def aggregates(self):
        return tuple(
            Aggregate(rack, f'uuid of {rack}', frozenset(
                host for host, its in self.racks.items() if its == rack),
                FrozenMapping({'rack': rack}))
            for rack in sorted(set(self.racks.values())))

    def provider(self, uuid):
        if uuid not in self.used or uuid in self.bare:
            return None
        used = self.used[uuid]
        return Provider(
            0, FrozenMapping({'VCPU': Inventory(total=9, used=used)}),
            frozenset([DISABLED]) if uuid in self.disabled else frozenset(),
            used)


class MemoryProviders:
    """Reads providers of a cloud as ProviderReader does.

    :ivar reread_uuids: UUIDs of providers that were read one by one, in their
        order
    """

    def __init__(self, cloud):
        self._cloud = cloud
        self._known = set()
        self.reread_uuids = []

    def list(self):
        return {}

    def read(self, uuids, listing=None, *, counted=True):
        found = {uuid: one for uuid in uuids
                 if (one := self._cloud.provider(uuid)) is not None}
        if not counted:
            found |= {uuid: replace(one, consumers=1, is_counted=False)
                      for uuid, one in found.items()
                      if uuid not in self._known and one.consumers}
        self._known = {uuid for uuid, one in found.items() if one.is_counted}
        return found

    def reread(self, uuids):
        self.reread_uuids += sorted(uuids)
        self._known.update(uuids)
        return {uuid: self._cloud.provider(uuid) for uuid in uuids}

    reread_use = reread

    def with_trait(self, trait):
        return frozenset(self._cloud.disabled)

    def sharing(self, listing, uuids):
        return {}


class MemoryReader(CloudReader):
    """Reads a cloud in memory."""

    def __init__(self, cloud):
        super().__init__(None, None, MemoryProviders(cloud), SnapshotAssembly(
            AggregatesTopology(['rack', 'host'])))
        self._cloud = cloud

    @property
    def reread_uuids(self):
        return self._providers.reread_uuids

    def _nova_facts(self, listing):
        return NovaFacts(self._cloud.computes(), self._cloud.aggregates())

    def _all_flavors(self):
        return FrozenMapping({
            name: Flavor(name, name, FrozenMapping({'VCPU': 1}))
            for name in sorted(self._cloud.flavors)})


class MemoryInventory(InventoryDriver):
    """Complete snapshots of a cloud in memory."""

    def __init__(self, cloud):
        self.reader = MemoryReader(cloud)

    @classmethod
    def from_conf(cls, conf, **adapters):
        raise TypeError('only tests make this inventory')

    def snapshot(self):
        return self.reader.read_all()

    def uncounted_snapshot(self):
        return self.reader.read_all(counted=False)
