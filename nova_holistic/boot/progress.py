# SPDX-License-Identifier: Apache-2.0
"""The records that an engine writes while it creates the servers of a
group."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nova_holistic import crash_points
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.table.boot_records import (
    BootRecord, BootServer, BootStatus)
from nova_holistic.table.coordination.boots import Boots


@dataclass(slots=True)
class Progress:
    """Each write is conditional on the ownership of the boot.

    All methods raise OwnershipLost if the boot belongs to another engine, or
    if the group is deleted.

    :ivar record: the boot as it was last written
    """

    record: BootRecord
    boots: Boots
    clock: Callable[[], datetime]

    def begin_boot(self, paths: Collection[str]) -> None:
        """Write which servers are created."""
        self._require(self.boots.begin(self.record, paths, self.clock()))
        crash_points.reached('boot.begun')
        self.record = replace(self.record, status=BootStatus.CREATING)

    def change_status(self, status: BootStatus,
                      reasons: Sequence[Mapping[str, str]] = ()) -> None:
        """Change the status of the boot."""
        self._require(self.boots.change(
            self.record, status, reasons, self.clock()))
        crash_points.reached('boot.status-written')
        self.record = replace(
            self.record, status=status, reasons=tuple(reasons))

    def write_server(self, before: BootServer, **changes: Any) -> BootServer:
        """Change the row of one server."""
        after = replace(before, **changes)
        self._require(self.boots.change_server(
            self.record, before, after, self.clock()))
        crash_points.reached('boot.server-written')
        return after

    def close_boot(self) -> None:
        """Close the boot, so that no engine takes it again."""
        self._require(self.boots.close(self.record))
        crash_points.reached('boot.closed')

    @staticmethod
    def _require(changed: bool) -> None:
        if not changed:
            raise OwnershipLost(
                'the creation of its servers belongs to another engine')
