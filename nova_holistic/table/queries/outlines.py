# SPDX-License-Identifier: Apache-2.0
"""A cache of outlines of groups and their members.

The cost of a read depends on the number of changes since the previous read.
Every statement that writes a row of a group or a member sets its
``changed_at``. A deleted row has no such time. But a transaction that deletes
members also writes the row of their group, and a transaction that deletes a
group notes the deletion with its time.

All times are those of the database's clock, so engines on several machines
need no common clock. A transaction writes its times before it commits, so each
read overlaps the previous one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
import contextlib
from dataclasses import replace
from datetime import datetime, timedelta
import itertools
import sys
import threading

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.database import Database
from nova_holistic.table.history import deletions
from nova_holistic.table.queries.outline_index import (
    GIVEN_UP, OutlineIndex, Outlines)
from nova_holistic.table.queries.overview import (
    ACTIVE, GROUP, group_outline, GroupOutline, MEMBER, member_outline,
    MemberOutline)
from nova_holistic.table.queries.round_robin import RoundRobin
from nova_holistic.table.schema.database_time import DatabaseNow
from nova_holistic.table.schema.models import GroupRow, MemberRow

KEPT = (*ACTIVE, *GIVEN_UP)
"""Statuses of groups for which the reconciler may have work."""

OVERLAP = timedelta(seconds=60)
"""Maximum time between a statement and the commit of its transaction for which
no change is missed. ``compare_some`` finds the others."""

TIME_RESOLUTION = timedelta(seconds=1)
"""Maximum time between two changes of a group that may have the same time
stamp."""

ROWS = 1000
"""Number of rows that the database driver fetches in one batch; also the
number of members at which a comparison ends, and its maximum number of
groups."""


class OutlineCache:
    """A cache of the outlines of all groups in one of the statuses ``KEPT``.
    One member takes about half a kilobyte of memory. Threads may share an
    instance."""

    def __init__(self, database: Database):
        self._database = database
        self._lock = threading.Lock()
        self._read_at: datetime | None = None
        # Times of the recent changes of groups, by UUID.
        self._written: dict[str, datetime] = {}
        # UUIDs of groups by the numbers of their recent deletions.
        self._deletions: Mapping[int, str] = {}
        self._rotation = RoundRobin()
        # The next range of groups in which unknown groups are searched for: a
        # status, and the UUID before it.
        self._next_range = KEPT[0], ''
        self._index = OutlineIndex()

    def read(self) -> Outlines:
        """All groups and members in their current state. If nothing has
        changed since the previous read, the result is the same object.

        The first read reads all rows, with ``batches.MAX_BATCH_SIZE`` groups
        in one statement and ``ROWS`` rows in one batch.

        :raises TableError: the database does not respond
        """
        with self._changing() as session:
            now = session.scalar(sa.select(DatabaseNow()))
            if self._can_follow(now):
                self._read_changes(session, self._read_at - OVERLAP)
            else:
                self._read_all(session)
            self._read_at = now
            return self._index.outlines()

    def compare_some(self) -> None:
        """Read some groups again, even if they have not changed, and search
        for some groups that are not in the cache. Successive calls read each
        group once before any group is read a second time.

        :raises TableError: the database does not respond
        """
        with self._changing() as session:
            chosen, number = [], 0
            for uuid in itertools.islice(
                    self._rotation.next(self._index.groups), ROWS):
                chosen.append(uuid)
                number += len(self._index.by_group.get(uuid, ()))
                if number >= ROWS:
                    break
            self._read_groups(session, {*chosen, *self._unknown(session)})

    @contextlib.contextmanager
    def _changing(self) -> Iterator[orm.Session]:
        """A view of the database for one thread. After an error, everything is
        read again."""
        with self._lock:
            try:
                with self._database.view() as session:
                    yield session
            except BaseException:
                # A comparison would skip the groups that it has chosen.
                self._read_at = None
                raise

    def _can_follow(self, now: datetime) -> bool:
        """Whether the table shows all changes since the last read. It does not
        if deletions are forgotten, or if the clock was set back."""
        return self._read_at is not None and (
            -OVERLAP / 2 < now - self._read_at < deletions.RETENTION / 2)

    def _read_changes(self, session: orm.Session, since: datetime) -> None:
        written = {uuid: moment for uuid, moment in session.execute(
            sa.select(GroupRow.uuid, GroupRow.changed_at)
            .where(GroupRow.changed_at >= since))}
        deleted = deletions.since(session, since)
        # A group with the UUID of a deleted one may have been created since.
        self._read_groups(session, self._index.groups.keys() & {
            uuid for _, uuid in deleted.items() - self._deletions.items()} | {
            uuid for uuid, moment in written.items()
            if self._written.get(uuid) != moment
            or moment >= self._read_at - TIME_RESOLUTION})
        self._written, self._deletions = written, deleted
        self._merge(_members(session, MemberRow.changed_at >= since))

    def _read_all(self, session: orm.Session) -> None:
        self._index = OutlineIndex()
        self._read_groups(session, session.scalars(
            sa.select(GroupRow.uuid).where(GroupRow.status.in_(KEPT))).all())

    def _unknown(self, session: orm.Session) -> set[str]:
        """UUIDs of the groups of a range of the table that are not in the
        cache."""
        if self._read_at is None:
            return set()
        status, last = self._next_range
        found = session.scalars(
            sa.select(GroupRow.uuid).where(
                GroupRow.status == status, GroupRow.uuid > last)
            .order_by(GroupRow.uuid).limit(ROWS)).all()
        self._next_range = (status, found[-1]) if len(found) == ROWS else (
            KEPT[(KEPT.index(status) + 1) % len(KEPT)], '')
        return set(found) - self._index.groups.keys()

    def _read_groups(self, session: orm.Session,
                     uuids: Collection[str]) -> None:
        """Read groups again, with all their members."""
        for batch in batches(sorted(uuids)):
            groups = {group.uuid: group for group in map(
                group_outline, session.execute(
                    sa.select(*GROUP).where(GroupRow.uuid.in_(batch),
                                            GroupRow.status.in_(KEPT))))}
            members = _by_group(_members(
                session, MemberRow.group_uuid.in_(batch)), groups)
            for uuid in batch:
                self._index.put(
                    uuid, groups.get(uuid), members.get(uuid, {}))

    def _merge(self, members: Iterable[MemberOutline]) -> None:
        """Replace or add members if their groups are cached."""
        groups, known = self._index.groups, self._index.by_group
        for uuid, changed in _by_group(members, groups).items():
            self._index.put(
                uuid, groups[uuid], {**known.get(uuid, {}), **changed})


def _members(session: orm.Session, where: sa.ColumnElement[bool]
             ) -> Iterable[MemberOutline]:
    return map(member_outline, session.execute(
        sa.select(*MEMBER).where(where)
        .execution_options(yield_per=ROWS)))


def _by_group(members: Iterable[MemberOutline],
              groups: Mapping[str, GroupOutline]
              ) -> Mapping[str, Mapping[int, MemberOutline]]:
    """The members of these groups. They share texts, to save memory."""
    found: dict[str, dict[int, MemberOutline]] = {}
    for member in members:
        group = groups.get(member.group_uuid)
        if group is not None:
            found.setdefault(group.uuid, {})[member.id] = replace(
                member, group_uuid=group.uuid, host=sys.intern(member.host),
                provider=sys.intern(member.provider))
    return found
