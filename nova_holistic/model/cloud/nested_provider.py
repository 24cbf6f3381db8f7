# SPDX-License-Identifier: Apache-2.0
"""Resource providers of a host other than its root provider."""

from dataclasses import dataclass

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class NestedProvider:
    """A provider below a compute node, such as a physical GPU, a PCI device or
    a NUMA node, or a provider that shares its resources with several hosts,
    such as a storage for their disks.

    :ivar uuid: UUID of the provider; in a file without UUIDs, its name
    :ivar parent: UUID of the provider directly above it; '' if this is the
        root provider of the host, or if the provider is shared
    :ivar sharing: whether the provider shares its resources with several
        hosts. Each of them contains the same provider, and its capacity
        counts once for all of them
    """

    uuid: str
    name: str
    parent: str
    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str] = frozenset()
    sharing: bool = False
