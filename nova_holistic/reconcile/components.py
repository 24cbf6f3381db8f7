# SPDX-License-Identifier: Apache-2.0
"""The components that reconcilers, repairs and actions share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.reconcile.instances import Instances
from nova_holistic.table.store import PlacementTable


@dataclass(frozen=True, slots=True)
class ReconcileComponents:
    """The components that reconcilers, repairs and actions share.

    :ivar conf: with the project's options registered
    :ivar instances: reads servers in Nova
    :ivar clock: returns naive UTC
    """

    conf: Any
    inventory: CloudInventory
    table: PlacementTable
    holds: HoldClient
    instances: Instances
    clock: Callable[[], datetime]
