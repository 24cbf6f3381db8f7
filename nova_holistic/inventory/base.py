# SPDX-License-Identifier: Apache-2.0
"""What an inventory driver must be able to do."""

import abc

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
