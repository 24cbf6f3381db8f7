# SPDX-License-Identifier: Apache-2.0
"""Deletes the rows of a group, and returns its last holds."""

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.changes import link_demands
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import deletions, events
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow


@retried
def delete(database: Database, group_uuid: str) -> frozenset[str]:
    """Delete a group, its members and its history.

    :returns: the holds that its members had at that time
    """
    in_group = MemberRow.group_uuid == group_uuid
    with database.link_writer() as session:
        # This locks the rows, so that the next statement reads their last
        # state.
        session.execute(
            sa.update(MemberRow).where(in_group).values(held=MemberRow.held)
            .execution_options(synchronize_session=False))
        holds = frozenset(session.scalars(sa.select(MemberRow.hold).where(
            in_group, MemberRow.held.is_(True))))
        session.execute(sa.delete(MemberRow).where(in_group))
        session.execute(sa.delete(VolumeRow).where(
            VolumeRow.group_uuid == group_uuid)
            .execution_options(synchronize_session=False))
        if session.execute(sa.delete(GroupRow).where(
                GroupRow.uuid == group_uuid)).rowcount:
            deletions.note(session, group_uuid)
        link_demands.forget(session, group_uuid)
        events.delete(session, group_uuid, timeutils.utcnow())
    return holds
