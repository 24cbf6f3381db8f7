# SPDX-License-Identifier: Apache-2.0
"""Writes a group of a parent that was read from its children."""

from collections.abc import Sequence

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.coordination.parts import GroupPart, part_values
from nova_holistic.table.database import Database, Duplicate, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.federation_models import PartRow
from nova_holistic.table.schema.models import GroupRow, MemberRow


def write(database: Database, record: GroupRecord,
          members: Sequence[MemberRecord], parts: Sequence[GroupPart]) -> bool:
    """Write a group with its members and parts: everything or nothing.

    :returns: False if the table has the group already, and nothing is written
    """
    try:
        _insert(database, record, members, parts)
    except Duplicate:
        return False
    return True


@retried
def _insert(database: Database, record: GroupRecord,
            members: Sequence[MemberRecord],
            parts: Sequence[GroupPart]) -> None:
    with database.writer() as session:
        session.execute(
            sa.insert(GroupRow).values(rows.group_values(record)))
        if members:
            session.execute(sa.insert(MemberRow), [
                rows.member_values(member, position)
                for position, member in enumerate(members)])
        if parts:
            session.execute(sa.insert(PartRow), [
                {'idempotency_key': part.idempotency_key,
                 **part_values(part), 'child_project': part.child_project}
                for part in parts])
        events.add(session, [events.Event(
            record.uuid, events.Kind.GROUP_STATUS,
            record.created_at or timeutils.utcnow(),
            to_state=str(record.status))])
