# SPDX-License-Identifier: Apache-2.0
"""Deletes the rows of a group, and returns its last holds."""

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.changes import link_demands, transitions
from nova_holistic.table.conditional_updates import update_in
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import deletions, events
from nova_holistic.table.history.events import Transaction
from nova_holistic.table.schema.federation_models import PartRow
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow


@retried
def delete(database: Database, group_uuid: str,
           revision: int | None = None) -> frozenset[str] | None:
    """Delete a group, its members and its history.

    :param revision: required revision of the group; None means any
    :returns: the holds that its members had at that time; None if the group
        does not have the required revision, and nothing is deleted
    """
    with database.link_writer() as session:
        if not transitions.lock_revision(session, group_uuid, revision):
            return None
        return _delete(session, group_uuid)


@retried
def delete_without_parts(database: Database, group_uuid: str) -> bool:
    """Delete a group of a parent that has neither a task nor parts.

    :returns: False if the group does not exist, or has a task or a part, and
        nothing is deleted
    """
    with database.link_writer() as session:
        # This statement changes nothing. It locks the row of the group, so
        # that no other transaction writes a part.
        if not update_in(session, GroupRow, [
                GroupRow.uuid == group_uuid, GroupRow.task.is_(None)],
                {'status': GroupRow.status}):
            return False
        if session.scalars(sa.select(PartRow.idempotency_key).where(
                PartRow.group_uuid == group_uuid).limit(1)).all():
            return False
        _delete(session, group_uuid)
    return True


def _delete(session: Transaction, group_uuid: str) -> frozenset[str]:
    in_group = MemberRow.group_uuid == group_uuid
    # This locks the rows, so that the next statement reads their last state.
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
