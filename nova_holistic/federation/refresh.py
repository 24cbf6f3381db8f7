# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of a group with the answers of the children."""

from collections.abc import Callable, Collection, Mapping, Sequence
import contextlib
from dataclasses import replace
from datetime import datetime
import threading
import time

from oslo_log import log as logging

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import (
    ChildGroup, ChildMember, Refusal)
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.saga.journal import PartState
from nova_holistic.federation.saga.saga import is_longest
from nova_holistic.federation.table_journal import record_of, TableJournal
from nova_holistic.federation.update.part_settler import HELD, PartSettler
from nova_holistic.table.changes import mirrored_members
from nova_holistic.table.changes.mirrored_members import Seen
from nova_holistic.table.coordination.parts import GroupPart, PartReport
from nova_holistic.table.records import GroupRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

_REMEMBERED = 10_000
"""Maximum number of groups whose last refresh is remembered. Other groups are
refreshed earlier than necessary."""
_STATES = frozenset(MemberState)


class Refresh:
    """Compares a group when its user requests it, because the credentials of
    users exist only during their requests."""

    def __init__(self, table: PlacementTable, children: UserChildren,
                 settler: PartSettler, interval: float,
                 clock: Callable[[], datetime]):
        """
        :param interval: seconds between two comparisons of a group
        :param clock: returns naive UTC
        """
        self._table = table
        self._children = children
        self._settler = settler
        self._interval = interval
        self._clock = clock
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def if_due(self, user: User, group_uuid: str) -> None:
        """Compare a group without a task, unless it was compared within the
        interval."""
        now = time.monotonic()
        with self._lock:
            last = self._last.get(group_uuid)
            if last is not None and now - last < self._interval:
                return
            if len(self._last) >= _REMEMBERED:
                self._last.clear()
            self._last[group_uuid] = now
        self.settled(user, group_uuid)

    def settled(self, user: User, group_uuid: str) -> None:
        """Compare a group, unless it has a task.

        The rows of the part of a child that does not answer remain unchanged.
        """
        record = self._table.get_group(group_uuid)
        if record is None or record.task is not None:
            return
        if self._settler.is_due(group_uuid):
            journal = TableJournal(self._table.parts, group_uuid, None,
                                   self._clock, record.revision)
            # If a task has begun since, it settles the parts, too. A policy
            # of the definition may no longer be installed.
            with contextlib.suppress(JournalRefused, InvalidDocument):
                self._settler.settle(user, record, journal)
        parts = self._table.parts.of_group(group_uuid)
        # A deletion of the group that has not ended may have deleted parts.
        mirrored_members.lose_members_elsewhere(
            self._table.database, group_uuid,
            [part.child for part in parts if part.state in HELD],
            self._clock(), record.revision)
        kept = [part for part in parts if part.state == PartState.COMMITTED]
        ends = [self._part(user, part, Seen(record.revision))
                for part in kept]
        if kept and None not in ends:
            end = min(ends)
            if record.lease_expires_at is None and is_longest(
                    end, self._clock()):
                # The group has no lease, and its parts the longest one.
                return
            mirrored_members.write_lease(
                self._table.database, group_uuid, end, Seen(
                    record.revision,
                    lease_expires_at=record.lease_expires_at))

    def of_task(self, user: User, record: GroupRecord,
                waiting: Collection[str] = ()) -> None:
        """Compare the members of a group before its task ends, so that the
        group shows the result of the task afterwards.

        :param record: the group, whose task this process performs
        :param waiting: names of the children whose parts are not compared
        """
        now = self._table.get_group(record.uuid)
        if now is None:
            return
        for part in self._table.parts.of_group(record.uuid):
            if part.state == PartState.COMMITTED and part.child not in waiting:
                self._part(user, part, Seen(
                    now.revision, engine=record.engine))

    def _part(self, user: User, part: GroupPart,
              seen: Seen) -> datetime | None:
        """Write what the child reports about its part, unless the rows have
        changed since.

        :param seen: the group when it was read
        :returns: the end of the lease; None: it is unknown, or the lease never
            ends
        """
        paths = set(part.paths)
        seen = replace(seen, states={
            row.member.path: row.state
            for row in self._table.members(part.group_uuid)
            if row.member.path in paths})
        found = self._children.child_of(user, record_of(part)).show(
            part.child_group)
        if isinstance(found, Refusal):
            LOG.info('Child %s does not report part %s', part.child,
                     part.idempotency_key)
            return part.lease_expires_at
        now = self._clock()
        if found is None:
            # The group was deleted in the child. Its servers remain.
            mirrored_members.write(
                self._table.database, part.group_uuid, {
                    path: MemberState.LOST
                    for path, state in seen.states.items()
                    if state == MemberState.PLANNED}, now, seen)
            return part.lease_expires_at
        members = _reported(found, part)
        mirrored_members.write(
            self._table.database, part.group_uuid,
            {**_missing(found, seen),
             **{each.path: MemberState(each.state) for each in members}}, now,
            seen)
        instances = {each.path: each.instance_uuid for each in members
                     if each.instance_uuid is not None}
        pointers = {each.path: each.pointer for each in members
                    if each.pointer is not None}
        project = found.project_id or part.child_project
        if (instances, pointers, found.lease_end, project) != (
                dict(part.instances), dict(part.pointers),
                part.lease_expires_at, part.child_project):
            self._table.parts.observe(part, PartReport(
                found.lease_end, instances, pointers, project), now,
                seen.revision, seen.engine)
        return found.lease_end


def _missing(found: ChildGroup, seen: Seen) -> Mapping[str, MemberState]:
    """The planned members that the group in the child no longer has, because
    its own definition was changed there. Their servers remain."""
    known = {each.path for each in found.members or ()}
    return {path: MemberState.LOST for path, state in seen.states.items()
            if found.members is not None and path not in known
            and state == MemberState.PLANNED}


def _reported(found: ChildGroup, part: GroupPart) -> Sequence[ChildMember]:
    """A child decides only about the members of its part, and only with known
    states."""
    return [each for each in found.members or ()
            if each.path in part.paths and each.state in _STATES]
