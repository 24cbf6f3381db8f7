# SPDX-License-Identifier: Apache-2.0
"""Snapshots whose hosts have statistics from the placement table."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nova_holistic.inventory.base import CloudInventory
from nova_holistic.metrics.instruments import SNAPSHOT_SECONDS
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup

Since = Callable[[datetime], Mapping[str, Mapping[str, float]]]
"""Returns, for the name of each host, its statistics by their names."""


class StatisticsInventory(CloudInventory):
    """The snapshots of another inventory, with stored statistics.

    If both have a statistic of the same name, the stored value takes
    precedence. Statistics older than ``max_age`` are ignored.
    """

    def __init__(self, inventory: CloudInventory, since: Since,
                 clock: Callable[[], datetime], max_age: timedelta):
        """
        :param since: returns the statistics that were stored since a time
        :param clock: returns naive UTC
        :param max_age: maximum age of statistics that are used
        """
        self._inventory = inventory
        self.has_cache = inventory.has_cache
        self._since = since
        self._clock = clock
        self._max_age = max_age
        self._latest: dict[str, tuple[Host, Host]] = {}

    def snapshot(self) -> Snapshot:
        """See ``CloudInventory.snapshot``."""
        with SNAPSHOT_SECONDS.timed():
            bare = self._inventory.snapshot()
        return self._with_statistics(bare)

    def cached_snapshot(self) -> Snapshot:
        """See ``CloudInventory.cached_snapshot``."""
        with SNAPSHOT_SECONDS.timed():
            bare = self._inventory.cached_snapshot()
        return self._with_statistics(bare)

    def uncounted_snapshot(self) -> Snapshot:
        """See ``CloudInventory.uncounted_snapshot``."""
        with SNAPSHOT_SECONDS.timed():
            bare = self._inventory.uncounted_snapshot()
        return self._with_statistics(bare)

    def recent_snapshot(self) -> Snapshot:
        """See ``CloudInventory.recent_snapshot``."""
        with SNAPSHOT_SECONDS.timed():
            bare = self._inventory.recent_snapshot()
        return self._with_statistics(bare)

    def mark_providers(self, uuids: Collection[str]) -> None:
        """See ``CloudInventory.mark_providers``."""
        self._inventory.mark_providers(uuids)

    def mark_use(self, uuids: Collection[str]) -> None:
        """See ``CloudInventory.mark_use``."""
        self._inventory.mark_use(uuids)

    def mark_hosts(self, names: Collection[str]) -> None:
        """See ``CloudInventory.mark_hosts``."""
        self._inventory.mark_hosts(names)

    def moment(self) -> int:
        """See ``CloudInventory.moment``."""
        return self._inventory.moment()

    def change_use(self, since: int,
                   changes: Mapping[str, UseChange]) -> None:
        """See ``CloudInventory.change_use``."""
        self._inventory.change_use(since, changes)

    def mark_nova(self) -> None:
        """See ``CloudInventory.mark_nova``."""
        self._inventory.mark_nova()

    def invalidate(self) -> None:
        """See ``CloudInventory.invalidate``."""
        self._inventory.invalidate()

    def _with_statistics(self, bare: Snapshot) -> Snapshot:
        found = self._since(self._clock() - self._max_age)
        if not found:
            return bare
        latest = {host.name: self._measured(host, found[host.name])
                  for host in bare.hosts if host.name in found}
        self._latest = latest
        return replace(bare, hosts=tuple(
            latest[host.name][1] if host.name in latest else host
            for host in bare.hosts))

    def image(self, name: str, project_id: str | None) -> Image | None:
        """See ``CloudInventory.image``."""
        return self._inventory.image(name, project_id)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        """See ``CloudInventory.server_groups``."""
        return self._inventory.server_groups(uuids)

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        """See ``CloudInventory.with_pools``."""
        return self._inventory.with_pools(snapshot)

    def default_volume_type(self, project_id: str | None) -> str | None:
        """See ``CloudInventory.default_volume_type``."""
        return self._inventory.default_volume_type(project_id)

    def _measured(self, host: Host, found: Mapping[str, float],
                  ) -> tuple[Host, Host]:
        """A host as the inventory has it, and the host with its statistics.

        If nothing has changed, both are the same objects as before, because
        other modules cache what they derive from a host.
        """
        statistics = FrozenMapping({**host.statistics, **found})
        before = self._latest.get(host.name)
        if (before is not None and before[0] is host
                and before[1].statistics == statistics):
            return before
        return host, replace(host, statistics=statistics)
