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

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """

    def cached_snapshot(self) -> Snapshot:
        """The newest known snapshot. Only the parts that were reported as
        changed are read.

        Placement may refuse a plan that is made with this snapshot. An answer
        that no plan is possible requires ``snapshot``, and so does a decision
        by which a member loses its place. Threads may call this at the same
        time.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return self.snapshot()

    def uncounted_snapshot(self) -> Snapshot:
        """A cached snapshot for callers that do not need the number of
        servers: ``Host.servers`` may be 1 although the host has more servers.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return self.cached_snapshot()

    def recent_snapshot(self) -> Snapshot:
        """A cached snapshot for choices that are checked again when they are
        used: flavors, and which hosts are disabled, may be a few seconds old.
        ``Host.servers`` is as in ``uncounted_snapshot``.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return self.uncounted_snapshot()

    def mark_providers(self, uuids: Collection[str]) -> None:
        """Note that the usage of resource providers has changed, or differs
        from the cached snapshot. Returns immediately.

        :param uuids: UUIDs of the providers
        """

    def mark_use(self, uuids: Collection[str]) -> None:
        """Note that the usage of resource providers has changed, and nothing
        suggests that their inventories and traits differ from the cached
        snapshot. Returns immediately.

        :param uuids: UUIDs of the providers
        """
        self.mark_providers(uuids)

    def mark_hosts(self, names: Collection[str]) -> None:
        """Note that the usage of compute hosts has changed. Returns
        immediately."""

    def moment(self) -> int:
        """A number for the current moment, which grows with time. It serves
        as the parameter ``since`` of ``change_use``."""
        return 0

    def change_use(self, since: int,
                   changes: Mapping[str, UseChange]) -> None:
        """Note that this process has changed the usage of resource providers
        by known amounts. Returns immediately.

        :param since: result of ``moment`` before the change
        :param changes: changes by UUID of the provider
        """

    def mark_nova(self) -> None:
        """Note that a compute service or an aggregate has changed. Returns
        immediately."""

    def invalidate(self) -> None:
        """Note that the cached snapshot may be wrong, so that the whole cloud
        must be read again. Returns immediately."""

    def image(self, name: str, project_id: str | None) -> Image | None:
        """The image with this name or UUID, if a project may use it.

        A driver that cannot read images need not override this: an image then
        has no properties, and its requirements are not planned for.

        :param project_id: None: any project
        :returns: None if there is no such image
        :raises HolisticError: the source does not answer, or cannot tell
            which image is meant
        """
        return Image(name)

    def server_groups(self, uuids: Collection[str]
                      ) -> Mapping[str, ServerGroup]:
        """The server groups by UUID, without groups that do not exist.

        :raises HolisticError: the source does not answer
        """
        return {}

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the storage pools of the cloud, in their current
        state; unchanged if they cannot be read.

        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return snapshot

    def default_volume_type(self, project_id: str | None) -> str | None:
        """The name of the volume type that volumes of a project get without a
        type; None if it is not known.

        :param project_id: None: any project
        :raises HolisticError: the source does not answer, or gives an invalid
            answer
        """
        return None


class InventoryDriver(CloudInventory):
    """A source of snapshots: one file, one entry point in
    ``nova_holistic.inventory``.

    :ivar reader: reads parts of the cloud; None if the driver can only give
        whole snapshots
    :ivar read_pools: returns a snapshot with the storage pools of the cloud;
        None if they cannot be read
    :ivar read_default_volume_type: returns the default volume type of a
        project; None if it cannot be read
    """

    reader: CloudReader | None = None
    read_pools: Callable[[Snapshot], Snapshot] | None = None
    read_default_volume_type: Callable[[str | None], str | None] | None = None

    def with_pools(self, snapshot: Snapshot) -> Snapshot:
        """See ``CloudInventory.with_pools``."""
        return snapshot if self.read_pools is None else self.read_pools(
            snapshot)

    def default_volume_type(self, project_id: str | None) -> str | None:
        """See ``CloudInventory.default_volume_type``."""
        read = self.read_default_volume_type
        return None if read is None else read(project_id)

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf, **adapters) -> 'InventoryDriver':
        """Create a driver from the options in [inventory].

        :param adapters: keystoneauth Adapters, by name of the service; a
            driver uses the adapters that it needs
        :raises HolisticError: an option is invalid, or an adapter is missing
        """
