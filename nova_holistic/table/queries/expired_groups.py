# SPDX-License-Identifier: Apache-2.0
"""Groups whose lease has expired and that have something to release.

The cost of a search depends on the number of leases that have expired and of
rows that have changed since the previous search, not on the number of groups
whose lease has expired.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
import threading
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.changes.member_release import NOT_UPDATING, UNCLAIMED
from nova_holistic.table.database import Database
from nova_holistic.table.records import GroupRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.database_time import DatabaseNow
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table.schema.volume_model import VolumeRow
from nova_holistic.table import volume_records

OVERLAP = timedelta(seconds=60)
"""Maximum time between a statement and the commit of its transaction, and
between the clocks of two services, for which no change is missed."""

COMPLETE_INTERVAL = timedelta(hours=1)
"""Time after which a search goes over all groups with an expired lease. It
finds changes that other searches have missed."""


class ExpiredGroups:
    """Searches for groups whose lease has expired, and that have unclaimed
    members or volumes. Threads may share an instance.

    A group with an expired lease has something to release again only if its
    row, or the row of an unclaimed member or volume, has changed. The times of
    these changes are those of the database's clock. The exception are volumes,
    whose times are those of the services.
    """

    def __init__(self, database: Database):
        self._database = database
        self._lock = threading.Lock()
        self._has_searched = False
        # Times of the last search and of the last complete search, by the
        # database's clock.
        self._read_at: datetime | None = None
        self._complete_at: datetime | None = None
        # Leases that expired until this time were found.
        self._until: datetime | None = None
        # UUIDs of the groups that the last search returned. The caller may
        # have failed to release their members.
        self._returned: frozenset[str] = frozenset()

    def read(self, now: datetime) -> tuple[GroupRecord, ...]:
        """The groups in their current state, without those that have a pending
        update, because the update may renew the lease.

        The first search is complete and does not read the database's clock,
        because a command makes only one. So the second is complete, too.

        :param now: naive UTC, by the clock with which leases are compared
        :raises TableError: the database does not respond
        """
        with self._lock, self._database.view() as session:
            at = (session.scalar(sa.select(DatabaseNow()))
                  if self._has_searched else None)
            follows = at is not None and self._can_follow(at)
            found = tuple(
                self._of(session, now, self._candidates(session, now))
                if follows else self._select(session, now))
            if not follows:
                self._complete_at = at
            self._read_at, self._has_searched = at, True
            self._until = max(now, self._until or now)
            self._returned = frozenset(group.uuid for group in found)
            return found

    def _can_follow(self, at: datetime) -> bool:
        """Whether only changes since the last search need to be read. This is
        not the case if the database's clock was set back."""
        return (self._read_at is not None and self._complete_at is not None
                and self._read_at - OVERLAP / 2 < at
                < self._complete_at + COMPLETE_INTERVAL)

    def _candidates(self, session: orm.Session, now: datetime) -> set[str]:
        """UUIDs of the groups that may have something to release since the
        last search."""
        assert self._read_at is not None and self._until is not None
        since, lately = self._read_at - OVERLAP, self._until - OVERLAP
        # Each part is a range of one index.
        return {*self._returned, *session.scalars(sa.union_all(
            sa.select(GroupRow.uuid).where(
                GroupRow.status.in_(volume_records.CLAIMABLE),
                GroupRow.lease_expires_at > self._until,
                GroupRow.lease_expires_at <= now),
            sa.select(GroupRow.uuid).where(
                GroupRow.changed_at >= since,
                GroupRow.lease_expires_at <= now),
            sa.select(MemberRow.group_uuid).where(
                MemberRow.changed_at >= since,
                MemberRow.state.in_(UNCLAIMED)),
            sa.select(VolumeRow.group_uuid).where(
                VolumeRow.updated_at >= lately,
                VolumeRow.state.in_(volume_records.UNCLAIMED))))}

    def _of(self, session: orm.Session, now: datetime,
            uuids: set[str]) -> Iterator[GroupRecord]:
        for batch in batches(sorted(uuids)):
            yield from self._select(session, now, GroupRow.uuid.in_(batch))

    @staticmethod
    def _select(session: orm.Session, now: datetime,
                *where: Any) -> Iterator[GroupRecord]:
        waiting = sa.or_(
            sa.and_(GroupRow.status.in_(CLAIMABLE), sa.exists().where(
                MemberRow.group_uuid == GroupRow.uuid,
                MemberRow.state.in_(UNCLAIMED))),
            sa.exists().where(
                VolumeRow.group_uuid == GroupRow.uuid,
                VolumeRow.state.in_(volume_records.UNCLAIMED)))
        return map(rows.group_record, session.scalars(
            sa.select(GroupRow).where(
                *where, GroupRow.status.in_(volume_records.CLAIMABLE),
                GroupRow.lease_expires_at <= now, NOT_UPDATING, waiting)))
