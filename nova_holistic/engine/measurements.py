# SPDX-License-Identifier: Apache-2.0
"""What others measured on hosts is taken down, of known hosts alone."""

from collections.abc import Callable, Mapping
from datetime import datetime
import threading
import time

from nova_holistic.engine.errors import HostUnknown
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.table.store import PlacementTable

NAMES_LAST = 300.0
"""Seconds for which a host is known that the inventory once had."""
NAMES_REST = 5.0
"""Seconds between two looks for a host that is not known."""


class Measurements:
    """Threads may share one."""

    def __init__(self, inventory: InventoryDriver, table: PlacementTable,
                 clock: Callable[[], datetime],
                 timer: Callable[[], float] = time.monotonic):
        """
        :param clock: gives naive UTC
        :param timer: gives seconds since whenever
        """
        self._inventory = inventory
        self._table = table
        self._clock = clock
        self._timer = timer
        self._lock = threading.Lock()
        self._names: frozenset[str] = frozenset()
        self._read_at: float | None = None

    def put(self, host: str, values: Mapping[str, float]) -> None:
        """
        :raises HostUnknown: the inventory has no such host
        :raises HolisticError: the inventory or the table does not answer
        """
        if not self._knows(host):
            raise HostUnknown(f'there is no host {host!r}')
        self._table.statistics.put(host, values, self._clock())

    def _knows(self, host: str) -> bool:
        """By the latest look at the inventory: every host may report every
        few seconds, and a look is not cheap."""
        with self._lock:
            age = (None if self._read_at is None
                   else self._timer() - self._read_at)
            known = host in self._names
            if age is None or age > (NAMES_LAST if known else NAMES_REST):
                self._names = frozenset(
                    h.name for h in self._inventory.snapshot().hosts)
                self._read_at = self._timer()
            return host in self._names
