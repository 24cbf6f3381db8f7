# SPDX-License-Identifier: Apache-2.0
"""Reads groups that are not being planned as a whole, at the revision that a
client has seen."""

from collections.abc import Sequence

from nova_holistic.messaging import errors
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Task)
from nova_holistic.table.store import PlacementTable


def settled_group(table: PlacementTable, group_uuid: str,
                  revision: int | None = None) -> GroupRecord:
    """
    :param revision: required revision of the group; None means any
    :raises GroupUnknown: no such group exists
    :raises GroupBusy: the group is being planned as a whole
    :raises StaleRevision: the group has another revision
    """
    group = table.get_group(group_uuid)
    if group is None:
        raise table_errors.GroupUnknown(group_uuid)
    _check(group, revision)
    return group


def settled_rows(table: PlacementTable, group_uuid: str,
                 revision: int | None = None
                 ) -> tuple[GroupRecord, Sequence[MemberRecord]]:
    """A group and its members: see ``settled_group``."""
    # They are read at the same time, because rows that a planner writes later
    # must not be released.
    found = table.group_with_members(group_uuid)
    if found is None:
        raise table_errors.GroupUnknown(group_uuid)
    _check(found[0], revision)
    return found


def without_unsettled(before: Sequence[MemberRecord],
                      after: Sequence[MemberRecord],
                      ) -> Sequence[MemberRecord]:
    """The rows after a change, without rows that were being planned again
    before it. The request for such a hold may still be in progress, so the
    reconciler drops the hold later."""
    unsettled = {row_key(m) for m in before
                 if m.state == MemberState.LOST and m.held}
    return [m for m in after if row_key(m) not in unsettled]


def row_key(row: MemberRecord) -> tuple[int, str]:
    """Fields of a row that do not change with its host. The ID alone is not
    sufficient, because SQLite reuses IDs of deleted rows."""
    return row.id, row.member.path


def _check(group: GroupRecord, revision: int | None) -> None:
    """Check the revision, and that the group is not being planned for the
    first time.

    Its rows then exist before its holds, and an engine would write the holds
    even if the rows were released in the meantime.

    :raises GroupBusy: the group is being planned as a whole
    :raises StaleRevision: the group has another revision
    """
    errors.must_have_revision(group.uuid, group.revision, revision)
    if group.status == GroupStatus.PLANNING or (
            group.task == Task.REPLANNING and group.status not in CLAIMABLE):
        raise errors.GroupBusy(f'group {group.uuid} is being planned')
