# SPDX-License-Identifier: Apache-2.0
"""Periodic tasks that one engine performs at a time."""

from collections.abc import Collection, Mapping, Sequence
import contextlib
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.conditional_updates import (
    update_rows, without_living_engine)
from nova_holistic.table.database import Database, Duplicate
from nova_holistic.table.schema.models import JobRow


class Jobs:
    """The periodic tasks. Every change is a compare-and-swap in one
    statement."""

    def __init__(self, database: Database):
        self._database = database

    def take(self, name: str, engine: str, now: datetime, *,
             due_before: datetime, stale_before: datetime) -> bool:
        """Take a task if it is due and no live engine performs it.

        :param due_before: latest end of the previous run for which the task is
            due
        :param stale_before: an engine whose last heartbeat is not before this
            time still owns the task
        :returns: whether the engine must perform the task now
        """
        free = without_living_engine(
            JobRow.engine, JobRow.engine_at, stale_before)
        due = sa.or_(JobRow.done_at.is_(None), JobRow.done_at <= due_before)
        taken = {'engine': engine, 'engine_at': now}
        if self._update([JobRow.name == name, free, due], taken):
            return True
        with self._database.reader() as session:
            if session.get(JobRow, name) is not None:
                return False
        with contextlib.suppress(Duplicate):
            with self._database.writer() as session:
                session.execute(sa.insert(JobRow).values(name=name, **taken))
            return True
        return False

    def write_heartbeat(self, names: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat: the engine still performs these tasks."""
        self._update([JobRow.name.in_(names), JobRow.engine == engine],
                     {'engine_at': now})

    def finish(self, name: str, engine: str, now: datetime) -> None:
        """Write that the engine has performed the task."""
        self._update([JobRow.name == name, JobRow.engine == engine],
                     {'engine': None, 'engine_at': None, 'done_at': now})

    def return_work(self, engine: str) -> None:
        """Let other engines perform the tasks that this engine has begun."""
        self._update([JobRow.engine == engine],
                     {'engine': None, 'engine_at': None})

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(self._database, JobRow, where, values) > 0
