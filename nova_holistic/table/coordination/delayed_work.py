# SPDX-License-Identifier: Apache-2.0
"""Work of a group that has failed, and that an engine repeats until it
succeeds."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.database import Database, retried
from nova_holistic.table import group_reasons
from nova_holistic.table.history import events
from nova_holistic.table.schema.models import GroupRow


@retried
def note(database: Database, group_uuid: str, reason: Mapping[str, Any],
         now: datetime, engine: str | None = None) -> None:
    """Write an event with the reason. Nothing is written if the group does not
    exist any longer.

    :param engine: the engine that performs the task of the group, if the task
        has failed. The reason is then one of the reasons of the group until
        the task ends, and only its first failure writes an event. Nothing is
        written if another engine has the task
    """
    where = [GroupRow.uuid == group_uuid]
    if engine is not None:
        where.append(GroupRow.engine == engine)
    with database.writer() as session:
        # This locks the row and changes nothing.
        if not session.execute(
                sa.update(GroupRow).where(*where)
                .values(revision=GroupRow.revision)
                .execution_options(synchronize_session=False)).rowcount:
            return
        if engine is not None:
            before = session.scalar(sa.select(GroupRow.reasons).where(*where))
            after = group_reasons.with_repeated(before, reason)
            session.execute(
                sa.update(GroupRow).where(*where).values(reasons=after)
                .execution_options(synchronize_session=False))
            if len(after) == len(before):
                return
        events.add(session, [events.Event(
            group_uuid, events.Kind.WORK_DELAYED, now, reasons=(reason,))])
