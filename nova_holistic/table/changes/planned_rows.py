# SPDX-License-Identifier: Apache-2.0
"""Writes the members and volumes of a plan."""

from collections.abc import Sequence

from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.changes import places_versions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import MemberRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table.volume_records import VolumeRecord


@retried
def write(database: Database, group_uuid: str,
          members: Sequence[MemberRecord], engine: str | None = None,
          volumes: Sequence[VolumeRecord] = ()) -> bool:
    """Replace all rows of the group that have no instance with rows of these
    members, in one transaction.

    Servers of a counted member get the rows in this order. The database
    assigns the IDs and ignores the given ones.

    :param engine: UUID of the engine that must own the group's task; None
        disables this check
    :param volumes: planned volumes, which replace all volumes that Cinder has
        not created. An empty sequence leaves the volumes unchanged
    :returns: False if the engine does not own the task; then nothing is
        written
    """
    values = [rows.member_values(record, position)
              for position, record in enumerate(members)]
    with database.writer() as session:
        if engine is not None and not session.execute(
                # The statement changes nothing, and prevents other engines
                # from taking the task before the members are written.
                sa.update(GroupRow)
                .where(GroupRow.uuid == group_uuid, GroupRow.engine == engine)
                .values(engine=engine)
                .execution_options(synchronize_session=False)).rowcount:
            return False
        session.execute(
            sa.delete(MemberRow)
            .where(MemberRow.group_uuid == group_uuid,
                   MemberRow.instance_uuid.is_(None))
            .execution_options(synchronize_session=False))
        version = places_versions.version_of(session, group_uuid)
        if values:
            session.execute(sa.insert(MemberRow), [
                {**row, **version} for row in values])
            events.add(session, [events.Event(
                group_uuid, events.Kind.PLAN_WRITTEN,
                members[0].updated_at or timeutils.utcnow(),
                details={'members': len(values)})])
        if volumes:
            replace_volumes(session, group_uuid, volumes)
    return True


def replace_volumes(session: orm.Session, group_uuid: str,
                    volumes: Sequence[VolumeRecord]) -> None:
    """Replace all rows of the group that have no volume of Cinder.

    :raises Duplicate: a volume of Cinder has one of the paths
    """
    session.execute(
        sa.delete(VolumeRow)
        .where(VolumeRow.group_uuid == group_uuid,
               VolumeRow.volume_uuid.is_(None))
        .execution_options(synchronize_session=False))
    if volumes:
        session.execute(sa.insert(VolumeRow), [
            row.values(position) for position, row in enumerate(volumes)])
        events.add(session, [events.Event(
            group_uuid, events.Kind.PLAN_WRITTEN,
            volumes[0].updated_at or timeutils.utcnow(),
            details={'volumes': len(volumes)})])
