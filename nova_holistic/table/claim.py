# SPDX-License-Identifier: Apache-2.0
"""A member's row becomes an instance's."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from nova_holistic.table import errors, rows
from nova_holistic.table.database import Database, Duplicate
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.records import (
    GroupStatus, MemberRecord, MemberState)

CANDIDATES = 8
"""Free rows looked at in one go for a counted member: claims made at once
want the same lowest row, and the losers go on to the next."""

CLAIMABLE = (GroupStatus.PLANNED, GroupStatus.BUILDING)
OWNED = (MemberState.CLAIMED, MemberState.BUILT)


def claim(database: Database, group_uuid: str, path: str,
          instance_uuid: str, now: datetime) -> MemberRecord:
    """Exactly one instance gets a row, and one instance gets exactly one.

    Only rows that are planned, in a group whose holds are in place, change
    hands. The number of statements does not depend on the size of the group;
    it grows with the number of races lost, each of which another instance won.

    :param path: of a member, or of a counted one, whose lowest free server is
        taken
    :raises ClaimRefused: there is nothing to be had at that path
    """
    own = _own(database, group_uuid, path, instance_uuid)
    if own is not None:
        return own
    while candidates := _free(database, group_uuid, path):
        for candidate in candidates:
            try:
                if _swap_state(database, candidate, instance_uuid, now):
                    return replace(
                        candidate, state=MemberState.CLAIMED,
                        instance_uuid=instance_uuid, updated_at=now)
            except Duplicate:
                # The same instance asked twice at once and the other won.
                own = _own(database, group_uuid, path, instance_uuid)
                if own is not None:
                    return own
                raise
    raise _why_not(database, group_uuid, path)


def _own(database: Database, group_uuid: str, path: str,
         instance_uuid: str) -> MemberRecord | None:
    """The row that the instance has already, if any."""
    with database.reader() as session:
        row = session.scalar(sa.select(MemberRow).where(
            MemberRow.instance_uuid == instance_uuid))
    if row is None:
        return None
    record = rows.member_record(row)
    if row.group_uuid != group_uuid or path not in (row.path, row.description):
        raise errors.MemberNotPlannable(
            group_uuid, path, f'server {instance_uuid} is member '
            f'{row.path!r} of group {row.group_uuid} already')
    if record.state not in OWNED:
        raise errors.MemberNotPlannable(
            group_uuid, path, f'it is {record.state}')
    return record


def _free(database: Database, group_uuid: str,
          path: str) -> Sequence[MemberRecord]:
    """Planned rows at the path, lowest first."""
    planned = sa.select(MemberRow).join(
        GroupRow, GroupRow.uuid == MemberRow.group_uuid).where(
            MemberRow.group_uuid == group_uuid,
            MemberRow.state == MemberState.PLANNED,
            GroupRow.status.in_(CLAIMABLE))
    with database.reader() as session:
        found = session.scalars(
            planned.where(MemberRow.path == path)).all()
        if not found:
            found = session.scalars(
                planned.where(MemberRow.description == path)
                .order_by(MemberRow.position).limit(CANDIDATES)).all()
        return [rows.member_record(row) for row in found]


def _swap_state(database: Database, candidate: MemberRecord,
                instance_uuid: str, now: datetime) -> bool:
    with database.writer() as session:
        return session.execute(
            sa.update(MemberRow)
            .where(MemberRow.id == candidate.id,
                   MemberRow.state == MemberState.PLANNED)
            .values(state=MemberState.CLAIMED, instance_uuid=instance_uuid,
                    updated_at=now)
            .execution_options(synchronize_session=False)).rowcount == 1


def _why_not(database: Database, group_uuid: str,
             path: str) -> errors.ClaimRefused:
    """What to tell an instance that got nothing."""
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
