# SPDX-License-Identifier: Apache-2.0
"""Drops holds that no member needs."""

from collections.abc import Collection

from nova_holistic import crash_points
from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import GroupRecord, MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable

GONE = (MemberState.RELEASED, MemberState.FAILED, MemberState.LOST)
"""States of a member that must not have a hold."""


def drop_leftovers(table: PlacementTable, holds: HoldClient,
                   group: GroupRecord,
                   members: Collection[MemberRecord]) -> None:
    """Drop the holds of members of a group that no longer need them.

    The row states that the member is held until Placement has confirmed the
    deletion. After a crash in between, the row remains and is found later, so
    no hold is without a row.

    :raises HoldsError: Placement does not respond
    """
    leftovers = [m.hold for m in members if m.held and m.state in GONE]
    holds.drop(leftovers, group.project_id, group.user_id)
    crash_points.reached('leftovers.dropped')
    table.forget_holds(leftovers)


def drop_if_unwanted(table: PlacementTable, holds: HoldClient,
                     member: MemberRecord) -> None:
    """Drop a new hold if its member was released, deleted or planned again
    since the plan, or if the member's server has its allocation without this
    hold.

    The process that changed the member did not drop the hold, because the hold
    did not exist yet.

    :raises HoldsError: Placement does not respond
    """
    row = next((m for m in table.members(member.group_uuid)
                if m.id == member.id), None)
    if (row is None or row.state in GONE or row.hold != member.hold
            or _server_has_allocation(holds, row)):
        holds.drop([member.hold])


def _server_has_allocation(holds: HoldClient, row: MemberRecord) -> bool:
    """Whether the server has its own allocation, so that the hold of the
    member will not be swapped later."""
    if row.state == MemberState.CLAIMED and row.instance_uuid:
        return holds.exists(row.instance_uuid) is not None
    return row.state == MemberState.BUILT
