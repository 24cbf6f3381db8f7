# SPDX-License-Identifier: Apache-2.0
"""A compute host of the embedded cloud."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_holistic.model.cloud.nested_provider import NestedProvider


@dataclass(frozen=True, slots=True)
class EmbeddedHost:
    """The resources that a compute reports, and its location.

    :ivar name: name of the compute host, and of its only node
    :ivar zone: availability zone; None means Nova's default zone
    :ivar rack: value of ``rack`` in the metadata of a host aggregate; None
        means no rack
    :ivar memory_mb: memory in MiB
    :ivar disk_gb: local disk in GiB
    :ivar load: amounts that other consumers have allocated, by resource class
    :ivar traits: traits that the virt driver reports in addition to its own
    :ivar labels: further aggregate metadata, e.g. ``{'room': 'room1'}``
    :ivar cpu_allocation_ratio: allocation ratio of VCPU. The default 1.0 means
        no overcommitment; Nova's own default is 4.0
    :ivar devices: providers directly below the root provider; their names in
        Placement begin with the name of the host
    :ivar reserved_memory_mb: part of ``memory_mb`` in MiB that servers cannot
        use
    :ivar reserved_disk_gb: part of ``disk_gb`` in GiB that servers cannot use
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
    reserved_disk_gb: int = 0

    def inventories(self):
        """Inventory by resource class, in the format of Placement's API.

        Resource classes with a total of 0 are omitted.
        """
        totals = {'VCPU': self.vcpus, 'MEMORY_MB': self.memory_mb,
                  'DISK_GB': self.disk_gb}
        ratios = {'VCPU': self.cpu_allocation_ratio}
        reserved = {'MEMORY_MB': self.reserved_memory_mb,
                    'DISK_GB': self.reserved_disk_gb}
        return {
            resource_class: {
                'total': total, 'reserved': reserved.get(resource_class, 0),
                'min_unit': 1, 'max_unit': total, 'step_size': 1,
                'allocation_ratio': ratios.get(resource_class, 1.0)}
            for resource_class, total in totals.items() if total}

    def aggregate_metadata(self):
        """(name, metadata) of each host aggregate of the host."""
        found = []
        if self.zone is not None:
            found.append((self.zone, {'availability_zone': self.zone}))
        named = dict(self.labels)
        if self.rack is not None:
            named['rack'] = self.rack
        # Two racks in different zones may have the same name.
        prefix = f'{self.zone}-' if self.zone is not None else ''
        found.extend((f'{prefix}{key}-{value}', {key: value})
                     for key, value in named.items())
        return found
