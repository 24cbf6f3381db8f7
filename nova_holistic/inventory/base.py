# SPDX-License-Identifier: Apache-2.0
"""What an inventory driver must be able to do."""

import abc

from nova_holistic.model.snapshot import Snapshot


class InventoryDriver(abc.ABC):
    """A source of snapshots: one file, one entry point in
    ``nova_holistic.inventory``."""

    @abc.abstractmethod
    def snapshot(self) -> Snapshot:
        """The cloud as it is now.

        :raises HolisticError: the source does not answer, or answers nonsense
        """
