# SPDX-License-Identifier: Apache-2.0
"""Writes the members and volumes of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table.changes import places_versions, transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupStatus, MemberRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import VolumeRecord


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows of a plan.

    :ivar members: servers of a counted member get the rows in this order,
        after rows that remain. The database assigns the IDs and ignores the
        given ones
    :ivar volumes: planned volumes, which replace all volumes that Cinder has
        not created. An empty sequence leaves the volumes unchanged
    :ivar changes: fields of the GroupRecord that change together with the rows
    """

    members: Sequence[MemberRecord]
    volumes: Sequence[VolumeRecord] = ()
    changes: Mapping[str, Any] = FrozenMapping()


@retried
def write(database: Database, group_uuid: str, planned: PlannedRows,
          engine: str | None = None) -> bool:
    """Replace all rows of the group that have no instance with the rows of a
    plan, in one transaction.

    :param engine: UUID of the engine that must own the group's task. None
        means that no engine owns it: if fields of the group change, its status
        must be planning
    :returns: False if the engine does not own the task, or the group has
        another status; then nothing is written
    """
    members, volumes = planned.members, planned.volumes
    with database.writer() as session:
        if not _change_group(session, group_uuid, planned.changes, engine):
            return False
        session.execute(
            sa.delete(MemberRow)
            .where(MemberRow.group_uuid == group_uuid,
                   MemberRow.instance_uuid.is_(None))
            .execution_options(synchronize_session=False))
        version = places_versions.current(session, group_uuid)
        if members:
            last = session.scalar(
                sa.select(sa.func.max(MemberRow.position)).where(
                    MemberRow.group_uuid == group_uuid))
            first = 0 if last is None else last + 1
            session.execute(sa.insert(MemberRow), [
                {**rows.member_values(record, position), **version}
                for position, record in enumerate(members, first)])
            events.add(session, [events.Event(
                group_uuid, events.Kind.PLAN_WRITTEN,
                members[0].updated_at or timeutils.utcnow(),
                details={'members': len(members)})])
        if volumes:
            replace_volumes(session, group_uuid, volumes)
    return True


def _change_group(session: orm.Session, group_uuid: str,
                  changes: Mapping[str, Any], engine: str | None) -> bool:
    """Change the group, give it another version of places, and check its
    owner; see ``write``.

    Until the end of the transaction, no other engine can take the task.
    """
    where = [GroupRow.engine == engine] if engine is not None else (
        [GroupRow.status == GroupStatus.PLANNING] if changes else [])
    return transitions.change_group(session, group_uuid, where, {
        **rows.group_changes(changes),
        'places_version': places_versions.next_version()}) or not where


def replace_volumes(session: orm.Session, group_uuid: str,
                    volumes: Sequence[VolumeRecord]) -> None:
    """Replace all rows of the group that have no volume of Cinder. The new
    rows follow those that remain.

    :raises Duplicate: a volume of Cinder has one of the paths
    """
    session.execute(
        sa.delete(VolumeRow)
        .where(VolumeRow.group_uuid == group_uuid,
               VolumeRow.volume_uuid.is_(None))
        .execution_options(synchronize_session=False))
    if volumes:
        last = session.scalar(sa.select(sa.func.max(VolumeRow.position)).where(
            VolumeRow.group_uuid == group_uuid))
        first = 0 if last is None else last + 1
        session.execute(sa.insert(VolumeRow), [
            row.values(position)
            for position, row in enumerate(volumes, first)])
        events.add(session, [events.Event(
            group_uuid, events.Kind.PLAN_WRITTEN,
            volumes[0].updated_at or timeutils.utcnow(),
            details={'volumes': len(volumes)})])
