# SPDX-License-Identifier: Apache-2.0
"""Members of which no server is or will be are given back."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database, retried
from nova_holistic.table import events, transitions
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.progress import SETTLING
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Task)

UNCLAIMED = (MemberState.PLANNED, MemberState.LOST)
"""States of a member that is, or will be, planned for a server to come."""

RELEASABLE = (*UNCLAIMED, MemberState.FAILED)
"""States of a member of which there is no server."""

NOT_UPDATING = sa.or_(GroupRow.task.is_(None),
                      GroupRow.task != Task.UPDATING)
"""Groups whose lease is what it will be."""


_EXPIRED = (events.reason('', "the group's lease has passed"),)


def release(database: Database, holds: Collection[str],
            now: datetime) -> None:
    """Release those of the members of which no server is or will be.

    :param holds: of the members as they were seen. Not their ids: SQLite
        gives those of rows that are gone to others
    """
    for batch in batches(sorted(holds)):
        _release(database, now, [MemberRow.state.in_(RELEASABLE),
                                 MemberRow.hold.in_(batch)])


def expire(database: Database, group_uuid: str, now: datetime) -> None:
    """Release what is unclaimed of a group, if its lease has passed.

    One statement, so that a lease extended meanwhile is honoured.
    """
    _release(database, now, [
        MemberRow.state.in_(UNCLAIMED), MemberRow.group_uuid == group_uuid,
        _lease_passed(group_uuid, now)], _EXPIRED)


def release_unleased(database: Database, member: MemberRecord,
                     now: datetime) -> bool:
    """Release a member whose server is gone, if the group's lease has passed.

    One statement, so that a lease extended meanwhile is honoured. The row
    says that it is held until the hold is known to be gone.

    :param member: as it was seen
    :returns: False where the lease is running, or the row has changed
    """
    return _release(
        database, now, [
            MemberRow.id == member.id, MemberRow.state == member.state,
            MemberRow.hold == member.hold,
            MemberRow.instance_uuid == member.instance_uuid,
            _lease_passed(member.group_uuid, now)],
        _EXPIRED, instance_uuid=None, held=True) == 1


def released(database: Database, group: GroupRecord) -> Sequence[int]:
    """Ids of a group's members that are released.

    Or are about to be: a group that has no plan says so before what was
    written for one is released.
    """
    states = [MemberState.RELEASED]
    if group.status not in SETTLING:
        states.append(MemberState.PLANNED)
    with database.reader() as session:
        return session.scalars(sa.select(MemberRow.id).where(
            MemberRow.group_uuid == group.uuid,
            MemberRow.state.in_(states)).order_by(MemberRow.id)).all()


def _lease_passed(group_uuid: str, now: datetime) -> Any:
    return sa.exists().where(GroupRow.uuid == group_uuid, NOT_UPDATING,
                             GroupRow.lease_expires_at <= now)


@retried
def _release(database: Database, now: datetime, where: Sequence[Any],
             reasons: Sequence[Mapping[str, Any]] = (),
             **changes: Any) -> int:
    """How many members were released."""
    with database.writer() as session:
        return transitions.change_members(session, where, {
            'state': MemberState.RELEASED, 'updated_at': now, **changes},
            reasons)
