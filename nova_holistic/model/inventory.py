# SPDX-License-Identifier: Apache-2.0
"""Placement's inventory of one resource class at one provider."""

from dataclasses import dataclass
import math

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
