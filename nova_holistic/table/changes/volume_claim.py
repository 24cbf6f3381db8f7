# SPDX-License-Identifier: Apache-2.0
"""Assigns the row of a planned volume to a volume of Cinder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import volume_states
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table import errors
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import (
    CLAIMABLE, VolumeClaim, VolumeRecord, WITH_VOLUME)

CANDIDATES = 8
"""Maximum number of free rows that one query reads for a counted volume:
simultaneous claims try the same lowest row, and those that lose try the next
row."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the pointer of a create names.

    :ivar path: path of a volume or of a counted volume
    :ivar project_id: project of the request; None omits its check
    """

    group_uuid: str
    path: str
    project_id: str | None = None


def find(database: Database, group_uuid: str, path: str,
         project_id: str | None = None) -> VolumeRecord:
    """The volume of a pointer.

    :param path: path of a volume, or of a counted volume for its lowest
        planned volume, or its lowest volume if none is planned
    :param project_id: project of the request; None omits the check
    :raises GroupUnknown: the project has no such group
    :raises MemberUnknown: the group has no such volume
    """
    with database.reader() as session:
        _status(session, group_uuid, project_id)
        for where in _at(group_uuid, path):
            found = session.scalars(
                sa.select(VolumeRow).where(*where).order_by(
                    # False precedes True.
                    VolumeRow.state != MemberState.PLANNED,
                    VolumeRow.position).limit(1)).first()
            if found is not None:
                return VolumeRecord.of_row(found)
    raise errors.MemberUnknown(group_uuid, path)


def claim(database: Database, target: Target, volume_uuid: str,
          now: datetime) -> VolumeClaim:
    """Assign a row to a volume: each row to at most one volume, and each
    volume to at most one row. A volume that has the row already gets it again.

    Only planned rows of a group in one of the statuses ``CLAIMABLE`` are
    assigned.

    :param target: a volume, or a counted volume whose lowest free row is
        claimed
    :raises ClaimRefused: no row at this path can be claimed
    """
    while True:
        candidates = _candidates(database, target, volume_uuid)
        for row in candidates:
            if row.volume_uuid is not None:
                return _repeated(row, target.group_uuid, target.path)
            try:
                won = volume_states.change(
                    database, row, MemberState.CLAIMED, now,
                    volume_uuid=volume_uuid)
            except Duplicate:
                # Another request for the same volume succeeded.
                break
            if won is not None:
                return VolumeClaim(won, False)
        if not candidates:
            raise _why_not(database, target.group_uuid, target.path)


@retried
def _candidates(database: Database, target: Target,
                volume_uuid: str) -> Sequence[VolumeRecord]:
    """The row that the volume already has, or planned rows at the path; the
    lowest row is first.

    :raises GroupUnknown: the project has no such group
    """
    with database.reader() as session:
        status = _status(session, target.group_uuid, target.project_id)
        found = session.scalars(sa.select(VolumeRow).where(
            VolumeRow.volume_uuid == volume_uuid)).all()
        for where in _at(target.group_uuid, target.path):
            if found or status not in CLAIMABLE:
                break
            found = session.scalars(
                sa.select(VolumeRow).where(
                    *where, VolumeRow.state == MemberState.PLANNED)
                .order_by(VolumeRow.position).limit(CANDIDATES)).all()
        return [VolumeRecord.of_row(row) for row in found]


def _at(group_uuid: str, path: str) -> Sequence[Sequence[Any]]:
    """The conditions for the rows at a path, in the order of precedence."""
    return [(VolumeRow.group_uuid == group_uuid, column == path)
            for column in (VolumeRow.path, VolumeRow.description)]


def _status(session: orm.Session, group_uuid: str,
            project_id: str | None) -> GroupStatus:
    """The status of a group.

    :raises GroupUnknown: the project has no such group
    """
    found = session.execute(
        sa.select(GroupRow.status, GroupRow.project_id).where(
            GroupRow.uuid == group_uuid)).first()
    if found is None or project_id not in (None, found.project_id):
        raise errors.GroupUnknown(group_uuid)
    return GroupStatus(found.status)


def _repeated(row: VolumeRecord, group_uuid: str, path: str) -> VolumeClaim:
    """The claim of a volume that has a row already.

    :raises MemberNotPlannable: the row is at another path or in another group
    """
    if row.group_uuid != group_uuid or path not in (
            row.path, row.description):
        raise errors.MemberNotPlannable(
            group_uuid, path, f'volume {row.volume_uuid} is member '
            f'{row.path!r} of group {row.group_uuid} already')
    return VolumeClaim(row, True)


def _why_not(database: Database, group_uuid: str,
             path: str) -> errors.ClaimRefused:
    """The error that states why a volume gets no row."""
    with database.reader() as session:
        status = _status(session, group_uuid, None)
        states: set[str] = set()
        for where in _at(group_uuid, path):
            states.update(session.scalars(
                sa.select(VolumeRow.state).distinct().where(*where)))
    if not states:
        return errors.MemberUnknown(group_uuid, path)
    if states.intersection(WITH_VOLUME):
        return errors.MemberTaken(group_uuid, path, 'volume')
    if MemberState.RELEASED in states:
        return errors.MemberReleased(group_uuid, path)
    if MemberState.PLANNED in states:
        return errors.MemberNotPlannable(
            group_uuid, path, f'the group is {status}')
    return errors.MemberNotPlannable(
        group_uuid, path, f'it is {sorted(states)[0]}')
