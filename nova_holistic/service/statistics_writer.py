# SPDX-License-Identifier: Apache-2.0
"""Writes the statistics that other services report about known hosts."""

from collections.abc import Callable, Mapping
from datetime import datetime
import threading
import time

from nova_holistic.inventory.base import CloudInventory
from nova_holistic.messaging.errors import HostUnknown
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.table.store import PlacementTable

NAMES_LAST = 300.0
"""Seconds for which a host counts as known after the inventory contained
it."""
NAMES_REST = 5.0
"""Interval in seconds between two reads of the inventory for an unknown
host."""


class StatisticsWriter:
    """Threads may share an instance."""

    def __init__(self, inventory: CloudInventory, table: PlacementTable,
                 clock: Callable[[], datetime],
                 timer: Callable[[], float] = time.monotonic):
        """
        :param clock: returns naive UTC
        :param timer: returns seconds since an arbitrary time
        """
        self._inventory = inventory
        self._table = table
        self._clock = clock
        self._timer = timer
        self._looking = threading.Lock()
        # Both are replaced in one assignment, so that reading them needs no
        # lock.
        self._seen: tuple[frozenset[str], float | None] = (frozenset(), None)

    def put(self, host: str, values: Mapping[str, float]) -> None:
        """
        :raises HostUnknown: the inventory has no such host
        :raises HolisticError: the inventory or the table does not answer
        """
        if not self._knows(host):
            raise HostUnknown(f'there is no host {host!r}')
        self._table.statistics.put(host, values, self._clock())

    def _knows(self, host: str) -> bool:
        """According to the last read of the inventory: every host may report
        every few seconds, and reading the inventory is expensive. A report for
        a known host does not wait for a read in another thread."""
        exists = self._remembered(host)
        if exists is not None:
            return exists
        if not self._looking.acquire(blocking=host not in self._seen[0]):
            return True
        try:
            # Another thread may just have read it.
            exists = self._remembered(host)
            if exists is None:
                names = _names(self._inventory.uncounted_snapshot())
                if host not in names and self._inventory.has_cache:
                    # The host may be new.
                    names = _names(self._inventory.snapshot())
                self._seen = names, self._timer()
                exists = host in names
            return exists
        finally:
            self._looking.release()

    def _remembered(self, host: str) -> bool | None:
        """Whether the host exists, if this is known; otherwise None."""
        names, read_at = self._seen
        exists = host in names
        if read_at is None or self._timer() - read_at > (
                NAMES_LAST if exists else NAMES_REST):
            return None
        return exists


def _names(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(host.name for host in snapshot.hosts)
