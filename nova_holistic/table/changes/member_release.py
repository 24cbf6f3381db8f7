# SPDX-License-Identifier: Apache-2.0
"""Releases members without a server."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.changes import places_versions, transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Task)
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

UNCLAIMED = states.EXPIRE_STATES
"""States of a member that is planned, or will be planned, for a future
server."""

RELEASABLE = states.MEMBERS.before(states.RELEASE)
"""States in which a user can release a member immediately. A failed member may
have a server in ERROR."""

NOT_UPDATING = sa.or_(GroupRow.task.is_(None),
                      GroupRow.task != Task.UPDATING)
"""The condition that a group has no pending update, which may renew the
lease."""


_SURPLUS_REASON = (events.reason(
    '', 'the group has as many servers as are desired'),)
EXPIRED = (events.reason('', "the group's lease has passed"),)
"""Reasons of the events of members and volumes that are released because the
lease of their group has expired."""


def release(database: Database, holds: Collection[str], now: datetime,
            with_servers: bool = False,
            first: FirstChange | None = None) -> bool:
    """Release members in one of the states ``RELEASABLE``.

    :param holds: holds of the members that were read. Their IDs are not used,
        because SQLite reuses the IDs of deleted rows
    :param with_servers: whether members in other states are released when
        their servers are deleted
    :param first: what the first transaction checks and changes in their group
    :returns: False if the group has another revision or does not exist, and
        nothing is changed
    """
    # Without holds, only the first change is made.
    for batch in list(batches(sorted(holds))) or [[]]:
        if not _release_batch(database, batch, now, with_servers, first):
            return False
        first = None
    return True


Surplus = Callable[[Collection[str]], bool]
"""Receives the paths of all members of the group that are not released.
Returns whether the group has enough servers without the member."""


def release_unleased(database: Database, member: MemberRecord,
                     now: datetime, surplus: Surplus | None = None) -> bool:
    """Release a member whose server is deleted, if the group's lease has
    expired, if the member was released while it had the server, or if the
    group has enough servers without it.

    The statement that selects the member also checks the lease, so that it
    respects a lease that is extended at the same time. The row states that it
    is held until the deletion of the hold is confirmed.

    :param member: the member that was read
    :param surplus: None if the number of the group's members is fixed
    :returns: False if none of these conditions is satisfied, or the row has
        changed
    :raises IllegalTransition: the state of the member does not allow the
        change
    """
    states.MEMBERS.check([member.state], MemberState.RELEASED)
    same = [MemberRow.id == member.id, MemberRow.state == member.state,
            MemberRow.hold == member.hold,
            MemberRow.instance_uuid == member.instance_uuid]
    changes = {'instance_uuid': None, 'held': True, 'returned': True}
    expired = [*same, sa.or_(MemberRow.unwanted,
                             lease_passed(member.group_uuid, now))]
    if _release(database, now, expired, EXPIRED, **changes):
        return True
    return surplus is not None and _release_surplus(
        database, member.group_uuid, surplus, same,
        {'state': MemberState.RELEASED, 'updated_at': now, **changes})


@retried
def _release_surplus(database: Database, group_uuid: str, surplus: Surplus,
                     same: Sequence[Any], values: Mapping[str, Any]) -> bool:
    """Release a member if the group has enough servers without it. The first
    statement locks the group's row, so that of several members, only those
    beyond the desired number are released."""
    with database.writer() as session:
        places_versions.raise_versions(session, [group_uuid])
        live = session.scalars(sa.select(MemberRow.path).where(
            MemberRow.group_uuid == group_uuid,
            MemberRow.state != MemberState.RELEASED)).all()
        return surplus(live) and transitions.change_members(
            session, same, values, _SURPLUS_REASON) == 1


def released(database: Database, group: GroupRecord) -> Sequence[int]:
    """IDs of a group's members that are released, or will be released when
    their servers are deleted.

    Members that are about to be released are included: if a group has no plan,
    its status states this before the rows that were written for a plan are
    released.
    """
    these = [MemberState.RELEASED]
    if group.status not in SETTLING:
        these.append(MemberState.PLANNED)
    with database.reader() as session:
        return session.scalars(sa.select(MemberRow.id).where(
            MemberRow.group_uuid == group.uuid,
            sa.or_(MemberRow.unwanted, MemberRow.state.in_(these)),
        ).order_by(MemberRow.id)).all()


def lease_passed(group_uuid: str, now: datetime) -> Any:
    """The condition that the lease of a group has expired, and that no pending
    update may renew it."""
    return sa.exists().where(GroupRow.uuid == group_uuid, NOT_UPDATING,
                             GroupRow.lease_expires_at <= now)


@retried
def _release_batch(database: Database, holds: Sequence[str], now: datetime,
                   with_servers: bool, first: FirstChange | None) -> bool:
    """Like ``release``, in one transaction."""
    with database.link_writer() as transaction:
        if first is not None and not first.apply(transaction):
            return False
        if with_servers:
            # This locks the rows, so that a claim happens before or after the
            # transaction.
            transaction.execute(
                sa.update(MemberRow).where(MemberRow.hold.in_(holds))
                .values(unwanted=True)
                .execution_options(synchronize_session=False))
        transitions.change_members(
            transaction,
            [MemberRow.state.in_(RELEASABLE), MemberRow.hold.in_(holds)],
            {'state': MemberState.RELEASED, 'updated_at': now})
    return True


@retried
def _release(database: Database, now: datetime, where: Sequence[Any],
             reasons: Sequence[Mapping[str, Any]] = (),
             **changes: Any) -> int:
    """Release members; returns their number."""
    with database.link_writer() as transaction:
        return transitions.change_members(transaction, where, {
            'state': MemberState.RELEASED, 'updated_at': now, **changes},
            reasons)
