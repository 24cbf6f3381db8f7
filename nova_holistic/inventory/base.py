# SPDX-License-Identifier: Apache-2.0
"""The interface of inventory drivers."""

import abc
from collections.abc import Callable, Collection, Mapping

from nova_holistic.inventory.cloud_reader import CloudReader
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.nova.image import Image
from nova_holistic.model.nova.server_group import ServerGroup


class CloudInventory(abc.ABC):
    """A source of snapshots.

    :ivar has_cache: whether ``cached_snapshot`` may be out of date
    """

    has_cache: bool = False

    @abc.abstractmethod
    def snapshot(self) -> Snapshot:
        """The current state of the cloud. Threads may call this at the same
        time.

        :raises HolisticError: the source does not answer, or answers nonsense
        """

    def cached_snapshot(self) -> Snapshot:
        """The newest snapshot that is known, at the cost of what was reported
        to have changed.

        Placement may refuse a plan that is made on it. An answer that no plan
        is possible, and a decision by which a member loses its place, needs
        ``snapshot``. Threads may call this at the same time.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
        return self.snapshot()

    def uncounted_snapshot(self) -> Snapshot:
        """As ``cached_snapshot``, for work that needs no number of servers:
        ``Host.servers`` may be 1 although there are more.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
        return self.cached_snapshot()

    def mark_providers(self, uuids: Collection[str]) -> None:
        """The usage of these resource providers has changed, or differed from
        the kept snapshot. Returns immediately."""

    def mark_hosts(self, names: Collection[str]) -> None:
        """The usage of these compute hosts has changed. Returns
        immediately."""

    def moment(self) -> int:
        """The current moment, for ``change_use``."""
        return 0

    def change_use(self, since: int,
                   changes: Mapping[str, UseChange]) -> None:
        """This process has changed the usage of resource providers, and knows
        by how much. Returns immediately.

        :param since: a moment before the change
        :param changes: by UUID of the provider
        """

    def mark_nova(self) -> None:
        """A compute service or an aggregate has changed. Returns
        immediately."""

    def invalidate(self) -> None:
        """The next kept snapshot has to be read as a whole. Returns
        immediately."""

    def image(self, name: str, project_id: str | None) -> Image | None:
        """The image of that name or UUID which a project may use.

        A driver that cannot read images need not override this: an image then
        has no properties, and its requirements are not planned for.

        :param project_id: None is any project
        :returns: None if there is no such image
        :raises HolisticError: the source does not answer, or cannot tell
            which image is meant
        """
        return Image(name)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        """Those of the server groups that exist, by UUID.

        :raises HolisticError: the source does not answer
        """
        return {}

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the storage pools of the cloud, in their current
        state; unchanged if they cannot be read.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
        return snapshot


class InventoryDriver(CloudInventory):
    """A source of snapshots: one file, one entry point in
    ``nova_holistic.inventory``.

    :ivar reader: reads parts of the cloud; None if the driver can only give
        whole snapshots
    :ivar read_pools: returns a snapshot with the storage pools of the cloud;
        None if they cannot be read
    """

    reader: CloudReader | None = None
    read_pools: Callable[[Snapshot], Snapshot] | None = None

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        """See ``CloudInventory.with_pools``."""
        return snapshot if self.read_pools is None else self.read_pools(
            snapshot)

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf, **adapters) -> 'InventoryDriver':
        """Make one from the options in [inventory].

        :param adapters: keystoneauth Adapters, by name of the service; a
            driver takes those it needs
        """
