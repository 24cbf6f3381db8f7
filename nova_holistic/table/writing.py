# SPDX-License-Identifier: Apache-2.0
"""Members as a planner would have them."""

from collections.abc import Sequence

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.changes import places
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.models import GroupRow, MemberRow
from nova_holistic.table.records import MemberRecord
from nova_holistic.table import rows


@retried
def write(database: Database, group_uuid: str,
          members: Sequence[MemberRecord], engine: str | None = None) -> bool:
    """Put members in place of the group's rows that were never claimed: all,
    or none.

    Their order is the order in which a counted member's servers are handed
    out. Their ids are the database's, whatever they say.

    :param engine: that has to have the group's task; None is nobody
    :returns: False where it does not, and nothing is written
    """
    values = [rows.member_values(record, position)
              for position, record in enumerate(members)]
    with database.writer() as session:
        if engine is not None and not session.execute(
                # It changes nothing, and keeps others from taking the task
                # before the members are there.
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
        version = places.version_of(session, group_uuid)
        if values:
            session.execute(sa.insert(MemberRow), [
                {**row, **version} for row in values])
            events.add(session, [events.Event(
                group_uuid, events.Kind.PLAN_WRITTEN,
                members[0].updated_at or timeutils.utcnow(),
                details={'members': len(values)})])
    return True
