# SPDX-License-Identifier: Apache-2.0
"""Ends tasks without a result."""

from collections.abc import Sequence
from datetime import datetime

from nova_holistic.model.plan import Reason
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupRecord, GroupStatus
from nova_holistic.table.store import PlacementTable


def end(table: PlacementTable, record: GroupRecord, why: Sequence[Reason],
        now: datetime, status: GroupStatus = GroupStatus.ERROR) -> bool:
    """End a task. A group that has been placed keeps its status and its
    members. The next request of a user of the group deletes the parts that
    have no members.

    :param record: result of ``table.tasks.take``
    :param now: naive UTC
    :param status: status of a group that has not been placed
    :returns: False if another process owns the task
    """
    owner = record.engine or ''
    changes = {'reasons': [each.to_row() for each in why], 'updated_at': now}
    if record.status not in SETTLING:
        # A process may have stopped between the rows of a placement and its
        # end.
        if not table.write_members(record.uuid, (), owner):
            return False
        changes['status'] = status
    return table.tasks.finish(record.uuid, owner, changes)
