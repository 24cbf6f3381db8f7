# SPDX-License-Identifier: Apache-2.0
"""The lease of a group is extended, or expires: never both at the same time.

Each of these transactions first locks members, and then the group's row. It
checks the group and its lease under this lock.
"""

import contextlib
from datetime import datetime

from nova_holistic.table.changes import transitions
from nova_holistic.table.changes.member_release import (
    EXPIRED, lease_passed, NOT_UPDATING, UNCLAIMED)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.group_reasons import without_missing
from nova_holistic.table.queries import progress
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow

LEASED = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
          GroupStatus.DEGRADED)
"""Statuses of a group that has planned members, or will have some if servers
are deleted."""


class Extended(Exception):
    """The lease was extended, or an update was requested, while members or
    volumes were released. The transaction is rolled back."""


@retried
def extend(database: Database, group_uuid: str, revision: int | None,
           ends: datetime, now: datetime) -> bool:
    """Set a new end of the lease of a group in one of the statuses ``LEASED``.

    The members may have been released without an update of the status. So the
    status is updated first, in the same transaction.

    :param revision: required revision of the group; None means any
    :param ends: new end of the lease, naive UTC
    :returns: False if the group has another status or revision, or does not
        exist
    """
    where = [GroupRow.status.in_(LEASED)]
    if revision is not None:
        where.append(GroupRow.revision == revision)
    with database.link_writer() as transaction:
        progress.settle_locked(transaction, group_uuid, now)
        return transitions.change_group(transaction, group_uuid, where, {
            'lease_expires_at': ends, 'updated_at': now})


@retried
def expire(database: Database, group_uuid: str, now: datetime) -> None:
    """Release the unclaimed members of a group if its lease has expired, and
    update its status. The group then has no reasons for missing members.

    If the lease is extended at the same time, or an update is requested that
    may renew it, nothing is changed.
    """
    with (contextlib.suppress(Extended),
          database.link_writer() as transaction):
        transitions.change_members(transaction, [
            MemberRow.state.in_(UNCLAIMED),
            MemberRow.group_uuid == group_uuid,
            lease_passed(group_uuid, now)],
            {'state': MemberState.RELEASED, 'updated_at': now}, EXPIRED)
        # The statements above do not lock the group.
        if not transitions.change_group(transaction, group_uuid, [
                NOT_UPDATING, GroupRow.lease_expires_at <= now],
                {'reasons': without_missing}):
            raise Extended
        progress.settle_locked(transaction, group_uuid, now)
