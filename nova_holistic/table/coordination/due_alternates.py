# SPDX-License-Identifier: Apache-2.0
"""Groups whose planned members may lack alternates, and the engines that find
them.

A group is planned before its members have alternates. Until an engine has
found them, the row of the group contains the time since which they are due.
This is not a task of the group: the group can be updated, replanned and
deleted in the meantime.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import alternates
from nova_holistic.table.changes.alternates import Seen, Written
from nova_holistic.table.conditional_updates import (
    is_unset, returned, update_in, update_rows, without_living_engine)
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupStatus, Place
from nova_holistic.table.schema.models import GroupRow

_FREE = {'alternates_engine': None, 'alternates_engine_at': None}


@dataclass(frozen=True, slots=True)
class DueGroup:
    """A group for which an engine finds alternates.

    :ivar attempts: number of engines that have begun, including this one
    """

    uuid: str
    project_id: str
    user_id: str
    attempts: int


class DueAlternates:
    """The groups for which alternates are due. Every change is one
    transaction, except ``write``."""

    def __init__(self, database: Database):
        self._database = database

    def waiting(self, now: datetime, stale_before: datetime,
                limit: int) -> Sequence[str]:
        """UUIDs of groups for which alternates are due and on which no live
        engine works. The group that has waited longest is first."""
        with self._database.link() as link:
            return tuple(link.scalars(
                sa.select(GroupRow.uuid)
                .where(*_due(now), _unowned(stale_before))
                .order_by(GroupRow.alternates_due, GroupRow.uuid)
                .limit(limit)))

    @retried
    def take(self, group_uuid: str, engine: str, now: datetime,
             stale_before: datetime) -> DueGroup | None:
        """Take a group for which the engine must find alternates; None if no
        alternates are due, or another engine has the group."""
        where = [GroupRow.uuid == group_uuid, *_due(now),
                 _unowned(stale_before)]
        with self._database.link_writer() as transaction:
            if not update_in(transaction, GroupRow, where, {
                    'alternates_engine': engine, 'alternates_engine_at': now,
                    'alternates_attempts': GroupRow.alternates_attempts + 1}):
                return None
            # The update has locked the row.
            return DueGroup(*transaction.execute(sa.select(
                GroupRow.uuid, GroupRow.project_id, GroupRow.user_id,
                GroupRow.alternates_attempts).where(
                    GroupRow.uuid == group_uuid)).one())

    def write_heartbeat(self, group_uuids: Collection[str], engine: str,
                        now: datetime) -> None:
        """Write a heartbeat: the engine still works on these groups."""
        for batch in batches(group_uuids):
            self._update([GroupRow.uuid.in_(batch),
                          GroupRow.alternates_engine == engine],
                         {'alternates_engine_at': now})

    def return_work(self, engine: str, group_uuid: str | None = None,
                    counted: bool = False) -> None:
        """Let other engines continue the work.

        :param group_uuid: None means everything that the engine has taken
        :param counted: whether this attempt counts, because an error ended it
        """
        where = [GroupRow.alternates_engine == engine]
        if group_uuid is not None:
            where.append(GroupRow.uuid == group_uuid)
        self._update(where, {
            **returned(GroupRow.alternates_attempts, counted), **_FREE})

    def write(self, seen: Seen, engine: str,
              found: Mapping[int, Sequence[Place]]) -> Written:
        """See ``alternates.write``."""
        return alternates.write(self._database, seen, engine, found)

    @retried
    def give_up(self, group_uuid: str, engine: str, why: str,
                now: datetime) -> None:
        """End the work without alternates, and write an event.

        :param why: text for users, without names of hosts and services
        """
        where = [GroupRow.uuid == group_uuid,
                 GroupRow.alternates_engine == engine]
        with self._database.link_writer() as transaction:
            if update_in(transaction, GroupRow, where, alternates.NOT_DUE):
                events.add(transaction, [events.Event(
                    group_uuid, events.Kind.ALTERNATES_FAILED, now,
                    reasons=(events.reason('', why),))])

    def _update(self, where: Sequence[Any],
                values: Mapping[str, Any]) -> bool:
        return update_rows(self._database, GroupRow, where, values) > 0


def _due(now: datetime) -> Sequence[sa.ColumnElement[bool]]:
    """The conditions that alternates are due for a group, and that no task is
    about to change the group."""
    return (GroupRow.alternates_due <= now, is_unset(GroupRow.task),
            GroupRow.status != GroupStatus.PLANNING)


def _unowned(stale_before: datetime) -> sa.ColumnElement[bool]:
    return without_living_engine(
        GroupRow.alternates_engine, GroupRow.alternates_engine_at,
        stale_before)
