# SPDX-License-Identifier: Apache-2.0
"""Ownership of a group's task: every write is conditional on it.

A planner that works for an engine owns the group while the row of the group
names this engine. A planner that works for a caller owns the group while its
status is planning. After a planner has lost the ownership, it changes nothing.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberRecord
from nova_holistic.table.store import PlacementTable
from nova_holistic.table.volume_records import VolumeRecord


class Ownership:
    """The right of a planner to change one group.

    All methods raise OwnershipLost if the group has another owner.

    :ivar record: the group when the ownership began
    """

    def __init__(self, table: PlacementTable, record: GroupRecord,
                 clock: Callable[[], datetime]):
        """
        :param record: the result of ``table.tasks.take``, or the new record of
            a caller
        """
        self.record = record
        self._table = table
        self._clock = clock

    def change(self, **changes: Any) -> None:
        """Change fields of the group. The task continues."""
        changes = {'updated_at': self._clock(), **changes}
        engine = self.record.engine
        if engine is None:
            done = self._table.update_group(
                self.record.uuid, [GroupStatus.PLANNING], **changes)
        else:
            done = self._table.tasks.change(
                self.record.uuid, engine, self._clock(), changes)
        self._must(done)

    def write_members(self, members: Sequence[MemberRecord],
                      volumes: Sequence[VolumeRecord] = (),
                      **changes: Any) -> None:
        """Write the rows of all members and volumes of the group, and change
        fields of the group in the same transaction: see
        ``planned_rows.write``."""
        engine, now = self.record.engine, self._clock()
        if changes:
            changes = {'updated_at': now, **changes}
        if engine is not None:
            changes['engine_at'] = now
        self._must(self._table.write_members(
            self.record.uuid, members, engine=engine, volumes=volumes,
            changes=changes))

    def finish(self, **changes: Any) -> None:
        """Change fields of the group, and end its task."""
        if self.record.engine is None:
            self.change(holds_written=None, **changes)
            return
        self._must(self._table.tasks.finish(
            self.record.uuid, self.record.engine,
            {'updated_at': self._clock(), **changes}))

    def _must(self, done: bool) -> None:
        if not done:
            raise OwnershipLost(
                'planning took too long and was abandoned')
