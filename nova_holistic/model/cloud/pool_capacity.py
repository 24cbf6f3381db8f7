# SPDX-License-Identifier: Apache-2.0
"""The capacity of a storage pool, as Cinder's CapacityFilter computes it.

Source: cinder.scheduler.filters.capacity_filter and
cinder.scheduler.sched_utils of Cinder 29.0.0.
"""

from dataclasses import dataclass
import math

from nova_holistic.model.cloud.inventory import Inventory, MAX_UNIT

UNLIMITED = ('infinite', 'unknown')
"""Values of a capacity that are not numbers."""

Capacity = float | str
"""GiB, or one of UNLIMITED."""


@dataclass(frozen=True, slots=True)
class PoolCapacity:
    """The capacity that a pool reports, with Cinder's names.

    :ivar total_capacity_gb: GiB, or one of UNLIMITED
    :ivar free_capacity_gb: the same for free physical space; None means all
        space that is neither reserved nor provisioned
    :ivar provisioned_capacity_gb: GiB, the sizes of all volumes
    :ivar reserved_percentage: share of the total capacity that volumes do not
        use, 0 to 100
    :ivar max_over_subscription_ratio: at least 1; of thin provisioning
    """

    total_capacity_gb: Capacity
    free_capacity_gb: Capacity | None = None
    provisioned_capacity_gb: float = 0
    reserved_percentage: float = 0
    max_over_subscription_ratio: float = 1
    thin_provisioning_support: bool = False

    def inventory(self) -> Inventory:
        """The capacity for volumes and the part in use, in whole GiB.

        The filter compares the free part with the size of a volume.
        """
        total = self.total_capacity_gb
        if self.free_capacity_gb in UNLIMITED:
            return Inventory(MAX_UNIT)
        if isinstance(total, str):
            # The reserved share of such a capacity is not known.
            return Inventory(0 if self.reserved_percentage else MAX_UNIT)
        if total <= 0:
            return Inventory(0)
        usable = total - math.floor(total * self.reserved_percentage / 100)
        if self.thin_provisioning_support:
            if self.max_over_subscription_ratio < 1:
                return Inventory(0)
            usable *= self.max_over_subscription_ratio
        free = usable - self.provisioned_capacity_gb
        if not self.thin_provisioning_support and (
                self.free_capacity_gb is not None):
            free = min(free, float(self.free_capacity_gb))
        capacity = min(math.floor(usable), MAX_UNIT)
        return Inventory(
            capacity, used=max(0, capacity - max(0, math.floor(free))))
