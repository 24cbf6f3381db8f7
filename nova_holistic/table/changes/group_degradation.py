# SPDX-License-Identifier: Apache-2.0
"""Changes groups to and from the status ``degraded``.

A group is degraded if its servers violate a hard policy. The policies are
checked with rows that were read earlier. Therefore every change is a
compare-and-swap. It fails if the group was revised, if its status has changed,
or if the group has a task. Then the group is checked again later.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries.progress import status_of, WITH_SERVERS
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow


def degrade(database: Database, record: GroupRecord,
            violations: Sequence[Mapping[str, str]], now: datetime) -> bool:
    """Change the status of a group to ``degraded``.

    :param record: the group at the time of the check
    :param violations: the violations, each {at, message}
    :returns: False if the group has changed since the check
    """
    return _change(database, record, (*WITH_SERVERS, GroupStatus.DEGRADED), {
        'status': GroupStatus.DEGRADED, 'violations': violations,
        'updated_at': now})


def recover(database: Database, record: GroupRecord,
            members: Sequence[MemberRecord], now: datetime) -> bool:
    """Give a degraded group the status that follows from its members.

    :param record: the group at the time of the check
    :param members: its members at the time of the check
    :returns: False if the group has changed since the check
    """
    return _change(database, record, [GroupStatus.DEGRADED],
                   {**recovered(members), 'updated_at': now})


def recovered(members: Sequence[MemberRecord]) -> dict[str, object]:
    """Fields of the record of a group that is no longer degraded."""
    return {'status': status_of([m.state for m in members])
            or GroupStatus.RELEASED, 'violations': ()}


@retried
def _change(database: Database, record: GroupRecord,
            expected: Sequence[GroupStatus],
            changes: Mapping[str, object]) -> bool:
    with database.writer() as session:
        return transitions.change_group(session, record.uuid, [
            GroupRow.created_at == record.created_at,
            GroupRow.revision == record.revision,
            GroupRow.status.in_(expected), GroupRow.task.is_(None),
        ], rows.group_changes(changes))
