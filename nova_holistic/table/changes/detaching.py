# SPDX-License-Identifier: Apache-2.0
"""Detaches a server from its group; the server continues to run.

Nova keeps the scheduler hints of the server. Therefore the table stores that
the server was detached. From then on, its pointer has no effect.
"""

from datetime import datetime
import enum

import sqlalchemy as sa

from nova_holistic.table.changes import transitions
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import progress
from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.detached_servers import DetachedServerRow
from nova_holistic.table.schema.models import MemberRow
from nova_holistic.table import states


class Detached(enum.Enum):
    """The result: the member is released, it does not exist, it has no server
    that could be detached, or the group has another revision."""

    DONE = enum.auto()
    UNKNOWN = enum.auto()
    NOT_BUILT = enum.auto()
    STALE = enum.auto()


@retried
def detach(database: Database, group_uuid: str, path: str,
           now: datetime, revision: int | None = None) -> Detached:
    """Release a built member; no allocation changes.

    :param revision: required revision of the group; None means any
    """
    where = [MemberRow.group_uuid == group_uuid, MemberRow.path == path]
    built = [*where, MemberRow.state.in_(
        states.MEMBERS.before(states.DETACH))]
    with database.writer() as session:
        if not transitions.lock_revision(session, group_uuid, revision):
            return Detached.STALE
        # SQLite requires that the first statement writes. It also locks the
        # row.
        session.execute(
            sa.update(MemberRow).where(*where).values(state=MemberRow.state)
            .execution_options(synchronize_session=False))
        found = session.execute(sa.select(
            MemberRow.id, MemberRow.instance_uuid).where(*built)).first()
        if found is None:
            known = session.scalar(sa.select(MemberRow.id).where(*where))
            return Detached.UNKNOWN if known is None else Detached.NOT_BUILT
        transitions.change_members(session, [MemberRow.id == found.id], {
            'state': MemberState.RELEASED, 'instance_uuid': None,
            'held': False, 'destination': None, 'unwanted': False,
            'updated_at': now})
        key = {'group_uuid': group_uuid,
               'instance_uuid': found.instance_uuid}
        if session.get(DetachedServerRow, key) is None:
            session.execute(sa.insert(DetachedServerRow).values(
                **key, detached_at=now))
        progress.settle_in(session, group_uuid, now)
    return Detached.DONE
