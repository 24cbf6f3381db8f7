# SPDX-License-Identifier: Apache-2.0
"""Snapshots whose hosts have the statistics that others reported."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.metrics.instruments import SNAPSHOT_SECONDS
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.image import Image
from nova_holistic.model.server_group import ServerGroup
from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.table.statistics import Statistics


class InventoryWithStatistics:
    """Another inventory's snapshots with statistics from the table.

    A statistic of the inventory's own counts where the table has none of its
    name. What is too old counts as if it had never been measured.
    """

    def __init__(self, inventory: InventoryDriver, statistics: Statistics,
                 clock: Callable[[], datetime], max_age: timedelta):
        """:param clock: gives naive UTC"""
        self._inventory = inventory
        self._statistics = statistics
        self._clock = clock
        self._max_age = max_age
        self._latest: dict[str, tuple[Host, Host]] = {}

    def snapshot(self) -> Snapshot:
        """See ``InventoryDriver.snapshot``."""
        with SNAPSHOT_SECONDS.timed():
            bare = self._inventory.snapshot()
        found = self._statistics.since(self._clock() - self._max_age)
        if not found:
            return bare
        latest = {host.name: self._measured(host, found[host.name])
                  for host in bare.hosts if host.name in found}
        self._latest = latest
        return replace(bare, hosts=tuple(
            latest[host.name][1] if host.name in latest else host
            for host in bare.hosts))

    def image(self, name: str, project_id: str | None) -> Image | None:
        """See ``InventoryDriver.image``."""
        return self._inventory.image(name, project_id)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        """See ``InventoryDriver.server_groups``."""
        return self._inventory.server_groups(uuids)

    def _measured(self, host: Host, found: Mapping[str, float],
                  ) -> tuple[Host, Host]:
        """A host as the inventory has it, and with its statistics: the same
        objects again where nothing changed, of which much is remembered."""
        statistics = FrozenMapping({**host.statistics, **found})
        before = self._latest.get(host.name)
        if (before is not None and before[0] is host
                and before[1].statistics == statistics):
            return before
        return host, replace(host, statistics=statistics)
