# SPDX-License-Identifier: Apache-2.0
"""Releases, expires, extends and deletes groups."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
import functools
import time
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.named_paths import named_paths
from nova_holistic.engine.settled_groups import (
    row_key, settled_group, settled_rows, without_unsettled)
from nova_holistic.engine.tasks import journal
from nova_holistic.engine.update.unneeded_holds import drop_leftovers
from nova_holistic.engine import volume_rows
from nova_holistic.holds.client import HoldClient
from nova_holistic.messaging import errors
from nova_holistic.messaging.results import Released
from nova_holistic.table.changes.claim import OWNED
from nova_holistic.table.changes.first_change import FirstChange
from nova_holistic.table.changes.group_lease import LEASED
from nova_holistic.table.changes.member_release import (
    RELEASABLE, UNCLAIMED)
from nova_holistic.table import errors as table_errors
from nova_holistic.table.group_reasons import (
    about_missing, without_missing, without_paths)
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

BOOT_STOP_POLLS, BOOT_STOP_INTERVAL = 50, 0.2
"""Number of checks, and interval between them in seconds, with which a delete
waits until no engine creates servers of the group."""


class Lifecycle:
    """Releases, expires, extends and deletes groups. Only capacity that no
    server has claimed is freed."""

    def __init__(self, conf, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime],
                 sleep: Callable[[float], object] = time.sleep):
        """
        :param clock: returns naive UTC
        :param sleep: waits for a number of seconds
        """
        self._sleep = sleep
        self._conf = conf
        self._table = table
        self._holds = holds
        self._clock = clock

    def release(self, group_uuid: str, members: Collection[str] | None = None,
                revision: int | None = None) -> Released:
        """Free the planned places of a group, or of some of its members.

        Members with servers are not planned again when their servers are
        deleted.

        :param members: paths of members, of counted members for all of their
            servers, or of nested groups for all of their members; None means
            all members
        :param revision: required revision of the group before the first change
            of its lease or members; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: no such group exists
        :raises MemberUnknown: one of the paths is not in the group; nothing is
            freed
        :raises GroupBusy: the group is being planned
        :raises HoldsError: the places are released in the table, and become
            free when Placement responds again
        """
        group, rows = settled_rows(self._table, group_uuid, revision)
        volumes = volume_rows.of_group(self._table, group)
        if volumes:
            # Members that were added after the volumes were read are released
            # as well.
            group, rows = settled_rows(self._table, group_uuid, revision)
        before, paths = rows, frozenset[str]()
        if members is not None:
            paths = named_paths(group, rows, members, volumes)
            before = [m for m in rows if m.member.path in paths]
            volumes = [v for v in volumes if v.path in paths]
        if members is None:
            # A claim in progress that fails is held again only for a short
            # time, until the search for expired leases frees its place. The
            # place of a server that is deleted later is not held again.
            if self._table.update_group(group_uuid, LEASED, revision,
                                        lease_expires_at=self._clock(),
                                        reasons=without_missing):
                # This was the first change.
                revision = None
            elif revision is not None:
                settled_group(self._table, group_uuid, revision)
            crash_points.reached('release.lease-ended')
        names = {m.member.path for m in before}
        first = FirstChange(group_uuid, revision, functools.partial(
            without_paths, paths=paths)
            if paths and about_missing(group.reasons) else None)
        # If there are only volumes, their release is the first change.
        of_volumes = bool(volumes) and not before
        after = [m for m in self._release(
            before, FirstChange(group_uuid) if of_volumes else first,
            members is not None) if m.member.path in names]
        released, kept = volume_rows.release(
            self._table, volumes, self._clock(), members is not None,
            first if of_volumes else None)
        self._table.settle(group_uuid, self._clock())
        volume_rows.release_remaining(self._table, group, self._clock())
        crash_points.reached('release.settled')
        drop_leftovers(self._table, self._holds, group,
                       without_unsettled(before, after))
        freed = {row_key(m) for m in before if m.state != MemberState.RELEASED}
        return Released(
            tuple(m.member.path for m in after if row_key(m) in freed
                  and m.state == MemberState.RELEASED) + tuple(released),
            tuple(m.member.path for m in after if m.state in (
                MemberState.CLAIMED, MemberState.BUILT)) + tuple(kept))

    def extend(self, group_uuid: str, seconds: int,
               revision: int | None = None) -> GroupRecord:
        """Set a new end of the lease of a group.

        :param seconds: seconds from now until the lease ends
        :param revision: required revision of the group; None means any
        :returns: the changed group
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: no such group exists
        :raises GroupBusy: the group is being planned
        :raises LeaseRefused: the group has no plan, all its members are
            released, or the time is shorter than one second
        """
        if seconds <= 0:
            raise errors.LeaseRefused('a lease lasts at least one second')
        group = settled_group(self._table, group_uuid, revision)
        now = self._clock()
        if not self._table.extend_lease(
                group_uuid, revision, now + timedelta(seconds=seconds), now):
            group = settled_group(self._table, group_uuid, revision)
            raise errors.LeaseRefused(
                f'group {group_uuid} is {group.status}: it has no planned '
                f'members')
        # A new task may have begun in the meantime. The lease is extended.
        extended = self._table.get_group(group_uuid)
        if extended is None:
            raise table_errors.GroupUnknown(group_uuid)
        return extended

    def expire(self) -> Sequence[str]:
        """Free the unclaimed capacity of groups whose lease has expired. The
        reconciler drops the holds that cannot be dropped now.

        :returns: UUIDs of the groups
        """
        now = self._clock()
        expired = self._table.expired_groups(now)
        for group in expired:
            before = self._table.members(group.uuid)
            self._table.expire(group.uuid, now)
            volume_rows.expire(self._table, group, now)
            crash_points.reached('expire.rows-released')
            self._table.settle(group.uuid, now)
            crash_points.reached('expire.settled')
            try:
                drop_leftovers(
                    self._table, self._holds, group,
                    without_unsettled(before, self._table.members(group.uuid)))
            except exceptions.HolisticError:
                LOG.exception('Holds of group %s are left to the reconciler',
                              group.uuid)
            crash_points.reached('expire.group-finished')
        return [group.uuid for group in expired]

    def delete(self, group_uuid: str, revision: int | None = None) -> None:
        """Delete a group and all its holds; its servers continue to run.

        An engine that creates servers of the group stops first. If the group
        gets another revision after that, the engine does not continue.

        :param revision: required revision of the group when an engine is
            stopped, and before the first change of its members or its holds;
            None means any
        :raises StaleRevision: the group has another revision
        :raises GroupUnknown: no such group exists
        :raises HoldsError: Placement does not respond; repeat the call
        :raises GroupBusy: the group is being planned, or an engine has not
            stopped yet; repeat the call
        """
        group = settled_group(self._table, group_uuid, revision)
        self._stop_boot(group_uuid, revision)
        if revision is not None:
            # The group may have been updated in the meantime.
            settled_group(self._table, group_uuid, revision)
        members = self._table.members(group_uuid)
        # If a claim is undone after this read, delete_group returns its hold.
        if any(m.state in RELEASABLE for m in members):
            members = self._release(
                members, FirstChange(group_uuid, revision))
            revision = None
        # The hold of a claim that is in progress or was interrupted may still
        # exist. It is dropped as well: the swap of the claim does not find it,
        # and the create fails.
        held = [m.hold for m in members
                if m.held or m.state == MemberState.CLAIMED]
        # An engine may have left an incomplete update.
        pending = journal.holds_of(self._pending(group_uuid))
        if revision is not None and (held or pending):
            # An update in progress cannot end any longer.
            if not self._table.tasks.interrupt(group_uuid, revision):
                settled_group(self._table, group_uuid, revision)
            revision = None
            crash_points.reached('delete.task-interrupted')
        self._holds.drop(held, group.project_id, group.user_id)
        crash_points.reached('delete.holds-dropped')
        self._holds.drop(pending, group.project_id, group.user_id)
        crash_points.reached('delete.update-dropped')
        last = self._table.delete_group(group_uuid, revision)
        if last is None:
            # Nothing has been changed. This raises the error.
            settled_group(self._table, group_uuid, revision)
            return
        crash_points.reached('delete.group-deleted')
        # Between the release and the deletion of the group, a claim may have
        # been undone, or the place of a deleted server may have been returned.
        # The place is then held again, although no row names the hold any
        # longer. If the undo has not changed the row yet, it drops the hold
        # itself, because it finds no row (``drop_if_unwanted``).
        self._holds.drop(sorted(last - {
            m.hold for m in members
            if m.held and m.state != MemberState.CLAIMED}))

    def _stop_boot(self, group_uuid: str, revision: int | None) -> None:
        """Return when no engine creates servers of the group, and the
        credential for their creation is deleted.

        :param revision: required revision of the group; None means any
        :raises StaleRevision: the group has another revision
        :raises GroupBusy: an engine has not stopped in time
        """
        for _ in range(BOOT_STOP_POLLS):
            if not self._table.boots.stop(group_uuid, revision):
                return
            crash_points.reached('delete.boot-stopped')
            if revision is not None:
                settled_group(self._table, group_uuid, revision)
            self._sleep(BOOT_STOP_INTERVAL)
        raise errors.GroupBusy(
            f'an engine is creating servers of group {group_uuid}, and '
            'stops; try again')

    def _release(self, seen: Sequence[MemberRecord], first: FirstChange,
                 with_servers: bool = False) -> Sequence[MemberRecord]:
        """Release members of a group, even if another process moves them at
        the same time.

        :param first: what the first transaction checks and changes in the
            group
        :param with_servers: whether members with servers are released when
            their servers are deleted
        :returns: all members after the release
        :raises StaleRevision: the group has another revision
        """
        group_uuid, revision, _ = first
        tried = {row_key(m): m.hold for m in seen
                 if with_servers or m.state in UNCLAIMED}
        holds = [m.hold for m in seen]
        while True:
            if not self._table.release(holds, self._clock(), with_servers,
                                       first):
                settled_group(self._table, group_uuid, revision)
            first = FirstChange(group_uuid)
            crash_points.reached('release.rows-released')
            after = self._table.members(group_uuid)
            moved = {row_key(m): m.hold for m in after
                     if m.hold != tried.get(row_key(m), m.hold) and (
                         m.state in UNCLAIMED
                         or m.state in OWNED and not m.unwanted)}
            if not moved:
                return after
            tried.update(moved)
            holds = list(moved.values())

    def _pending(self, group_uuid: str) -> Mapping[str, Any] | None:
        group = self._table.get_group(group_uuid)
        return group and group.pending
