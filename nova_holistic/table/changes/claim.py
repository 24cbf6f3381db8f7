# SPDX-License-Identifier: Apache-2.0
"""Assigns the row of a member to an instance."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table import errors
from nova_holistic.table.history import events
from nova_holistic.table.queries import progress
from nova_holistic.table.records import GroupStatus, MemberRecord, MemberState
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

CANDIDATES = 8
"""Maximum number of free rows that one query reads for a counted member:
simultaneous claims try the same lowest row, and those that lose try the next
row."""

CLAIMABLE = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.DEGRADED)
"""Statuses of a group whose planned members can become servers."""

OWNED = (MemberState.CLAIMED, MemberState.BUILT)

_MEMBER, _GROUP = MemberRow.__table__, GroupRow.__table__
# Statements that are sent for each server are built once.
_CLAIM = sa.update(_MEMBER).where(
    _MEMBER.c.id == sa.bindparam('number'),
    _MEMBER.c.hold == sa.bindparam('expected_hold'),
    sa.or_(*(_MEMBER.c.state == state for state
             in states.MEMBERS.before(states.CLAIM)))
).values(
    state=MemberState.CLAIMED, held=False,
    instance_uuid=sa.bindparam('instance'), updated_at=sa.bindparam('now'))
_ALTERNATES = sa.select(_MEMBER.c.alternates).where(
    _MEMBER.c.id == sa.bindparam('number'))
_STANDING = sa.select(
    _MEMBER.c.id, _MEMBER.c.instance_uuid, _GROUP.c.status).join_from(
        _MEMBER, _GROUP, _GROUP.c.uuid == _MEMBER.c.group_uuid).where(
            sa.or_(*(_MEMBER.c.state == state for state in OWNED)),
            # A reconciler that undoes a claim first marks the row as held.
            _MEMBER.c.held.is_(False))
_STANDING_OF_MANY = _STANDING.where(
    _MEMBER.c.id.in_(sa.bindparam('numbers', expanding=True)))
# Almost all requests are for one server. SQLAlchemy would expand a list of
# values in the text of the statement at each execution.
_STANDING_OF_ONE = _STANDING.where(_MEMBER.c.id == sa.bindparam('number'))


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Planned rows of a claimable group, as they were just read.

    :ivar rows: rows, lowest position first
    :ivar are_bare: whether the rows were read without their alternates
    :ivar is_planned: whether the group may have the status planned, which the
        claim changes
    """

    rows: Sequence[MemberRecord] = ()
    are_bare: bool = True
    is_planned: bool = True


NO_SEEN_ROWS = SeenRows()


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a claimed or built member.

    :ivar status: status of its group
    """

    instance_uuid: str
    status: GroupStatus


@dataclass(frozen=True, slots=True)
class Claim:
    """A row that is assigned to an instance.

    :ivar row: row with its alternates
    :ivar repeated: whether the instance had the row before
    """

    row: MemberRecord
    repeated: bool


def claim(database: Database, group_uuid: str, path: str,
          instance_uuid: str, now: datetime,
          seen: SeenRows = NO_SEEN_ROWS) -> Claim:
    """Assign a row to an instance: each row to at most one instance, and each
    instance to at most one row.

    Only planned rows of a group in one of the statuses ``CLAIMABLE`` are
    assigned. The number of statements does not depend on the size of the
    group. It grows with the number of simultaneous claims that succeed.

    :param path: path of a member, or of a counted member whose lowest free
        server is claimed
    :param seen: rows at this path, if the caller has just read them. If the
        group was building then and has since been planned again, it stays
        planned: the caller reads it again, see ``standing``
    :raises ClaimRefused: no row at this path can be claimed
    """
    if not seen.rows:
        seen = _candidates(database, group_uuid, path, instance_uuid)
    while seen.rows:
        for candidate in seen.rows:
            if candidate.instance_uuid is not None:
                return _repeated(candidate, group_uuid, path)
            try:
                won = _swap_state(
                    database, candidate, instance_uuid, now, seen)
                if won is not None:
                    return Claim(won, False)
            except Duplicate:
                # The instance has a row already: another request for it
                # succeeded at the same time, or the caller did not check.
                break
        seen = _candidates(database, group_uuid, path, instance_uuid)
    raise _refusal_error(database, group_uuid, path)


def _candidates(database: Database, group_uuid: str, path: str,
                instance_uuid: str) -> SeenRows:
    """The row that the instance already has, or planned rows at the path; the
    lowest row is first."""
    own = sa.select(MemberRow).where(MemberRow.instance_uuid == instance_uuid)
    planned = sa.select(MemberRow).join(
        GroupRow, GroupRow.uuid == MemberRow.group_uuid).where(
            MemberRow.group_uuid == group_uuid,
            MemberRow.state == MemberState.PLANNED,
            GroupRow.status.in_(CLAIMABLE))
    with database.reader() as session:
        for query in (own, planned.where(MemberRow.path == path),
                      planned.where(MemberRow.description == path)
                      .order_by(MemberRow.position).limit(CANDIDATES)):
            found = session.scalars(query).all()
            if found:
                return SeenRows([rows.member_record(row) for row in found],
                                are_bare=False)
    return NO_SEEN_ROWS


def _repeated(row: MemberRecord, group_uuid: str, path: str) -> Claim:
    """The claim of an instance that has a row already.

    :raises MemberNotPlannable: the row is at another path or in another group,
        or it is neither claimed nor built
    """
    if row.group_uuid != group_uuid or path not in (
            row.member.path, row.member.description):
        raise errors.MemberNotPlannable(
            group_uuid, path, f'server {row.instance_uuid} is member '
            f'{row.member.path!r} of group {row.group_uuid} already')
    if row.state not in OWNED:
        raise errors.MemberNotPlannable(
            group_uuid, path, f'it is {row.state}')
    return Claim(row, True)


@retried
def _swap_state(database: Database, candidate: MemberRecord,
                instance_uuid: str, now: datetime, seen: SeenRows
                ) -> MemberRecord | None:
    """Claim a row if it is still planned, and still has the hold that was
    read.

    The row is no longer held, because the hold will become the allocation of
    the instance. After a crash before that, the process that frees or undoes a
    claimed row checks the hold.

    :returns: the claimed row with its alternates; None if it was not claimed
    """
    with database.link_writer() as transaction:
        link = transaction.link
        won = link.execute(_CLAIM, {
            'number': candidate.id, 'expected_hold': candidate.hold,
            'instance': instance_uuid, 'now': now}).rowcount == 1
        if not won:
            return None
        group = candidate.group_uuid
        events.add(transaction, [
            *events.of_members([events.Changed(
                group, candidate.member.path, MemberState.PLANNED,
                candidate.place.host)], MemberState.CLAIMED, now),
            *(progress.start_group(link, group, now)
              if seen.is_planned else ())])
        # In this transaction, the alternates do not need another one.
        alternates = rows.places(link.scalar(
            _ALTERNATES, {'number': candidate.id})
        ) if seen.are_bare else candidate.alternates
    return replace(
        candidate, state=MemberState.CLAIMED, held=False,
        instance_uuid=instance_uuid, alternates=alternates, updated_at=now)


def standing(database: Database, member_ids: Collection[int]
             ) -> Mapping[int, Standing]:
    """The states of claimed and built members by their IDs, without members
    whose claims are being undone.

    A change of the group's status waits for claims that are not committed.
    Therefore, if a group became planned although a member is claimed, this
    transaction, which follows the claim, reads the changed status.
    """
    with database.link() as link:
        if len(member_ids) == 1:
            (number,) = member_ids
            found = link.execute(_STANDING_OF_ONE, {'number': number}).all()
        else:
            found = [row for batch in batches(member_ids)
                     for row in link.execute(
                         _STANDING_OF_MANY, {'numbers': batch})]
    return {number: Standing(instance, GroupStatus(status))
            for number, instance, status in found}


def _refusal_error(database: Database, group_uuid: str,
                   path: str) -> errors.ClaimRefused:
    """The error that states why an instance gets no row."""
    with database.reader() as session:
        status = session.scalar(sa.select(GroupRow.status).where(
            GroupRow.uuid == group_uuid))
        if status is None:
            return errors.GroupUnknown(group_uuid)
        states = set(session.scalars(
            sa.select(MemberRow.state).distinct().where(
                MemberRow.group_uuid == group_uuid,
                sa.or_(MemberRow.path == path,
                       MemberRow.description == path))))
    if not states:
        return errors.MemberUnknown(group_uuid, path)
    if states.intersection(OWNED):
        return errors.MemberTaken(group_uuid, path)
    if MemberState.RELEASED in states:
        return errors.MemberReleased(group_uuid, path)
    if MemberState.PLANNED in states:
        return errors.MemberNotPlannable(
            group_uuid, path, f'the group is {status}')
    return errors.MemberNotPlannable(
        group_uuid, path, f'it is {sorted(states)[0]}')
