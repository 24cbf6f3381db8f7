# SPDX-License-Identifier: Apache-2.0
"""Gives up the place of a planned member that it cannot keep."""

from datetime import datetime

from nova_holistic import crash_points
from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable


def lose_place(table: PlacementTable, holds: HoldClient, member: MemberRecord,
               now: datetime) -> bool:
    """Mark a planned member as lost, and drop its hold.

    :param now: naive UTC
    :returns: False if the member is no longer planned there
    :raises HoldsError: Placement does not respond; the row states that the
        member is lost and held, and a later pass drops the hold
    """
    if not table.change_state(
            member.id, [MemberState.PLANNED], MemberState.LOST, now,
            of_hold=member.hold):
        return False
    crash_points.reached('place.member-lost')
    holds.drop([member.hold])
    crash_points.reached('place.hold-dropped')
    table.forget_holds([member.hold])
    return True
