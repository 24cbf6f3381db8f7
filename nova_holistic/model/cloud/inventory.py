# SPDX-License-Identifier: Apache-2.0
"""Placement's inventory of one resource class at one provider."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
import math

from nova_holistic.model.frozen import FrozenMapping

MAX_UNIT = 2**31 - 1
"""Placement's own default and upper limit of max_unit."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The inventory of one resource class of a host, and its usage.

    Fields, meaning and defaults are Placement's. ``used`` counts every
    consumer: servers, migrations and holds.
    """

    total: int
    reserved: int = 0
    allocation_ratio: float = 1.0
    used: int = 0
    min_unit: int = 1
    max_unit: int = MAX_UNIT
    step_size: int = 1

    @property
    def capacity(self) -> int:
        """The amount that may be allocated: (total - reserved) x
        allocation_ratio.

        Placement compares whole amounts with the product as a float
        (placement.objects.allocation), so its floor loses nothing.
        """
        return math.floor((self.total - self.reserved) * self.allocation_ratio)

    @property
    def free(self) -> int:
        """The free capacity; below zero if a host is over-committed."""
        return self.capacity - self.used


def with_use_changed(inventories: Mapping[str, Inventory],
                     amounts: Mapping[str, int]
                     ) -> FrozenMapping[str, Inventory]:
    """The inventories of a provider after a change of its usage.

    :param amounts: amounts by resource class; negative if allocations were
        deleted
    """
    return FrozenMapping({
        name: replace(inventory, used=max(
            0, inventory.used + amounts.get(name, 0)))
        for name, inventory in inventories.items()})
