# SPDX-License-Identifier: Apache-2.0
"""What an inventory driver must be able to do."""

import abc
from collections.abc import Collection, Mapping

from nova_holistic.model.image import Image
from nova_holistic.model.server_group import ServerGroup
from nova_holistic.model.snapshot import Snapshot


class InventoryDriver(abc.ABC):
    """A source of snapshots: one file, one entry point in
    ``nova_holistic.inventory``."""

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf, **adapters) -> 'InventoryDriver':
        """Make one from the options in [inventory].

        :param adapters: keystoneauth Adapters, by name of the service; a
            driver takes those it needs
        """

    @abc.abstractmethod
    def snapshot(self) -> Snapshot:
        """The cloud as it is now. Threads may call this at once.

        :raises HolisticError: the source does not answer, or answers nonsense
        """

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
