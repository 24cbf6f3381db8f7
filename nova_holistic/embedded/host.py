# SPDX-License-Identifier: Apache-2.0
"""A compute host of the embedded cloud."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_holistic.model.cloud.nested_provider import NestedProvider


@dataclass(frozen=True, slots=True)
class EmbeddedHost:
    """What a compute reports of itself, and where it stands.

    :ivar zone: availability zone; None is Nova's default zone
    :ivar rack: value of ``rack`` in the metadata of a host aggregate; None
        means no rack
    :ivar load: by resource class, what other consumers have already allocated
    :ivar traits: traits that the virt driver reports in addition to its own
    :ivar labels: further aggregate metadata, e.g. ``{'room': 'room1'}``
    :ivar cpu_allocation_ratio: 1.0, so that ``vcpus`` is what can be used;
        Nova's own default is 4.0
    :ivar devices: providers directly below the root provider; their names in
        Placement begin with the name of the host
    :ivar reserved_memory_mb: part of ``memory_mb`` that is not for servers
    """

    name: str
    zone: str | None = None
    rack: str | None = None
    vcpus: int = 16
    memory_mb: int = 65536
    disk_gb: int = 1000
    load: Mapping[str, int] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    cpu_allocation_ratio: float = 1.0
    reserved_memory_mb: int = 0
    devices: tuple[NestedProvider, ...] = ()

    def inventories(self):
        """Its inventories, as Placement's API has them."""
        totals = {'VCPU': self.vcpus, 'MEMORY_MB': self.memory_mb,
                  'DISK_GB': self.disk_gb}
        ratios = {'VCPU': self.cpu_allocation_ratio}
        reserved = {'MEMORY_MB': self.reserved_memory_mb}
        return {
            resource_class: {
                'total': total, 'reserved': reserved.get(resource_class, 0),
                'min_unit': 1, 'max_unit': total, 'step_size': 1,
                'allocation_ratio': ratios.get(resource_class, 1.0)}
            for resource_class, total in totals.items() if total}

    def aggregate_metadata(self):
        """One (name, metadata) for each host aggregate it belongs to."""
        found = []
        if self.zone is not None:
            found.append((self.zone, {'availability_zone': self.zone}))
        named = dict(self.labels)
        if self.rack is not None:
            named['rack'] = self.rack
        # Racks of two zones may bear one name and are still two racks.
        prefix = f'{self.zone}-' if self.zone is not None else ''
        found.extend((f'{prefix}{key}-{value}', {key: value})
                     for key, value in named.items())
        return found
