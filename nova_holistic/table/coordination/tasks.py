# SPDX-License-Identifier: Apache-2.0
"""The tasks of groups, and the engines that perform them.

A group has at most one task, and a task has at most one engine. An engine that
writes no heartbeat loses its task to the next engine that takes it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import transitions
from nova_holistic.table.conditional_updates import (
    returned, update_in, update_rows, without_living_engine)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.queries import one_group
from nova_holistic.table.records import GroupRecord, GroupStatus, Task
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table import states

_WITHOUT_ENGINE = {'engine': None, 'engine_at': None}
_NONE = {'task': None, 'pending': None, 'attempts': 0, 'asked': None,
         'holds_written': None, **_WITHOUT_ENGINE}


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to give to a group.

    :ivar pending: parameters of the task
    :ivar expected: permitted statuses of the group
    :ivar revision: required revision of the group; None means any
    :ivar asked: number of members after the task; None if unknown
    """

    task: Task
    pending: Mapping[str, Any]
    expected: Collection[GroupStatus]
    revision: int | None = None
    asked: int | None = None


class Tasks:
    """The tasks in the table. Every change is a compare-and-swap in one
    transaction."""

    def __init__(self, database: Database):
        self._database = database

    def request(self, group_uuid: str, new: NewTask, now: datetime) -> bool:
        """Give a group a task if it has none, and if its revision and status
        are as expected.

        :returns: whether the group was given the task
        """
        where = [GroupRow.uuid == group_uuid, GroupRow.task.is_(None),
                 GroupRow.status.in_(new.expected)]
        if new.revision is not None:
            where.append(GroupRow.revision == new.revision)
        return self._update(where, rows.group_changes({
            'task': new.task, 'pending': new.pending, 'attempts': 0,
            'updated_at': now, 'asked': new.asked, **_WITHOUT_ENGINE}))

    @retried
    def take(self, group_uuid: str, engine: str, now: datetime,
             stale_before: datetime) -> GroupRecord | None:
        """Take a task: the group whose task this engine now owns; None if a
        live engine owns the task, or if the group has no task."""
        where = [GroupRow.uuid == group_uuid, GroupRow.task.is_not(None),
                 without_living_engine(
                     GroupRow.engine, GroupRow.engine_at, stale_before)]
        with self._database.link_writer() as transaction:
            if not update_in(transaction, GroupRow, where, {
                    'engine': engine, 'engine_at': now,
                    'attempts': GroupRow.attempts + 1}):
                return None
            # The update has locked the row.
            return one_group.group_in(transaction.link, group_uuid)

    def write_heartbeat(self, group_uuids: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat: the engine still works on the groups' tasks."""
        for batch in batches(group_uuids):
            self._update([GroupRow.uuid.in_(batch),
                          GroupRow.engine == engine], {'engine_at': now})

    def pending(self, group_uuids: Collection[str]) -> frozenset[str]:
        """Those of the groups that exist and have a task. Requests that wait
        for the end of a task send this statement many times."""
        with self._database.link() as link:
            return frozenset(
                uuid for batch in batches(group_uuids)
                for uuid in link.scalars(sa.select(GroupRow.uuid).where(
                    GroupRow.uuid.in_(batch), GroupRow.task.is_not(None))))

    def change(self, group_uuid: str, engine: str, now: datetime,
               changes: Mapping[str, Any]) -> bool:
        """Change a group on whose task the engine works, together with a
        heartbeat; False if it no longer owns the task, or if the status of the
        group does not allow the change."""
        return self._change(group_uuid, engine, {
            **rows.group_changes(changes), 'engine_at': now})

    def finish(self, group_uuid: str, engine: str,
               changes: Mapping[str, Any]) -> bool:
        """End the task and change the group; False, without a change, if
        another engine owns the task or the status of the group does not allow
        the change."""
        return self._change(group_uuid, engine, {
            **rows.group_changes(changes), **_NONE})

    def return_work(self, engine: str, group_uuid: str | None = None,
                    counted: bool = False) -> None:
        """Let other engines perform the tasks that this engine has taken.

        :param group_uuid: group of one task; None means all tasks
        :param counted: whether this attempt counts, because an error ended it
        """
        where = [GroupRow.engine == engine]
        if group_uuid is not None:
            where.append(GroupRow.uuid == group_uuid)
        self._update(where, {
            **returned(GroupRow.attempts, counted), **_WITHOUT_ENGINE})

    def interrupt(self, group_uuid: str, revision: int) -> bool:
        """Take the task of a group, if it has one, away from its engine. The
        engine cannot finish it any longer, and any engine may take it again.

        :param revision: required revision of the group
        :returns: False if the group has another revision or does not exist
        """
        return self._update([GroupRow.uuid == group_uuid,
                             GroupRow.revision == revision], _WITHOUT_ENGINE)

    def waiting(self, stale_before: datetime,
                limit: int) -> Sequence[str]:
        """UUIDs of groups with a task on which no live engine works. The group
        that has waited longest is first."""
        with self._database.link() as link:
            return tuple(link.scalars(
                sa.select(GroupRow.uuid)
                # With "is not null", databases would read all groups in the
                # order of updated_at.
                .where(GroupRow.task.in_(list(Task)),
                       without_living_engine(
                           GroupRow.engine, GroupRow.engine_at, stale_before))
                .order_by(GroupRow.updated_at, GroupRow.uuid).limit(limit)))

    @retried
    def _change(self, group_uuid: str, engine: str,
                values: Mapping[str, Any]) -> bool:
        with self._database.link_writer() as transaction:
            return transitions.change_group(
                transaction, group_uuid, [GroupRow.engine == engine], values,
                by=states.BY_TASK)

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(self._database, GroupRow, where, values) > 0
