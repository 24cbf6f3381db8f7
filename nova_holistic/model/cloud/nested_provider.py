# SPDX-License-Identifier: Apache-2.0
"""Resource providers below the root provider of a host."""

from dataclasses import dataclass

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class NestedProvider:
    """A provider below a compute node, such as a physical GPU, a PCI device or
    a NUMA node.

    :ivar uuid: UUID of the provider; in a file without UUIDs, its name
    :ivar parent: UUID of the provider directly above it; '' if this is the
        root provider of the host
    """

    uuid: str
    name: str
    parent: str
    inventories: FrozenMapping[str, Inventory]
    traits: frozenset[str] = frozenset()
