# SPDX-License-Identifier: Apache-2.0
"""Creates the servers of a group for its user."""

from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from datetime import datetime
import threading

import futurist
from oslo_log import log as logging

from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.boot.group_servers import GroupServers
from nova_holistic.boot.member_boot import MemberBoots, Settings, UNFINISHED
from nova_holistic.boot.progress import Progress
from nova_holistic.boot.rights import (
    end_right, open_right, Right, Rights)
from nova_holistic.boot.rollback import roll_back
from nova_holistic.boot.surplus_servers import remove_surplus
from nova_holistic import crash_points
from nova_holistic.engine.errors import OwnershipLost
from nova_holistic.messaging.context import RequestContext
from nova_holistic.table.boot_records import (
    BootRecord, BootServer, BootServerState, BootStatus, ENDED)
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

WITHOUT_PLAN = (GroupStatus.UNPLACEABLE, GroupStatus.ERROR,
                GroupStatus.RELEASED)
NO_RIGHT = ('the service may no longer act for the user: the right has '
            'expired or was deleted, or the user or a role of the user was '
            'removed')
NOT_ROLLED_BACK = ('the rollback is not complete: servers that were created '
                   'may remain, and the group is not released')
"""Messages for users; the cause is in the log."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the creation of servers needs from other parts of an engine.

    :ivar release: releases a group, by its UUID
    :ivar changed: reports that a server was created or deleted, by its UUID
    """

    release: Callable[[str], object]
    changed: Callable[[str], None]


class Booter:
    """At the end of a boot each server is active or has a fault, and the right
    to act for the user is deleted.

    Any engine continues the work of any other one.
    """

    def __init__(self, conf, table: PlacementTable, rights: Rights | None,
                 clock: Callable[[], datetime]):
        """
        :param rights: None if this engine has no key for them
        :param clock: returns naive UTC
        """
        self._conf = conf.boot
        self._table = table
        self._rights = rights
        self._clock = clock

    def run(self, record: BootRecord, hooks: Hooks,
            stopping: threading.Event) -> bool:
        """Create the servers of a group, or continue the creation.

        :param record: as ``table.boots.take`` returned it
        :param stopping: is set when the engine stops
        :returns: False if the boot is left to another engine, because this
            one stops
        :raises OwnershipLost: another engine continues
        :raises HolisticError: Nova, keystone or the table does not answer; run
            again
        """
        progress = Progress(record, self._table.boots, self._clock)
        right = None
        try:
            right = open_right(self._rights, record)
            if record.status not in ENDED and not self._finish(
                    progress, right, hooks, stopping):
                return False
        except RightUnavailable as error:
            LOG.error('Servers of group %s cannot be created: %s',
                      record.group_uuid, error)
            if progress.record.status not in ENDED:
                self._give_up(progress, NO_RIGHT)
        if right is not None:
            right.end()
            crash_points.reached('boot.right-deleted')
        progress.close_boot()
        LOG.info('The creation of the servers of group %s has ended: %s',
                 record.group_uuid, progress.record.status)
        return True

    def give_up(self, record: BootRecord, why: str, hooks: Hooks,
                stopping: threading.Event) -> bool:
        """End a boot that has failed in several attempts. If it has to be
        rolled back, the rollback begins. Its attempts are counted separately.

        The parameters, the result and the errors are those of ``run``.

        :param why: message for users
        """
        progress = Progress(record, self._table.boots, self._clock)
        if record.status not in ENDED:
            if record.rollback and record.status != BootStatus.ROLLING_BACK:
                self._fail_servers(progress, why)
                progress.change_status(
                    BootStatus.ROLLING_BACK, [{'at': '', 'message': why}])
                return self.run(progress.record, hooks, stopping)
            self._give_up(progress, why)
        end_right(self._rights, record)
        progress.close_boot()
        return True

    def _finish(self, progress: Progress, right: Right, hooks: Hooks,
                stopping: threading.Event) -> bool:
        """Continue the boot until its final status; False if it is left to
        another engine."""
        group = self._table.get_group(progress.record.group_uuid)
        if group is None:
            raise OwnershipLost('the group is deleted')
        if not self._begin(progress, group):
            return True
        boots = MemberBoots(
            progress, GroupServers(right.servers, group), hooks.changed,
            Settings(self._conf.poll_interval, self._conf.build_timeout,
                     self._conf.place_timeout))
        if progress.record.status == BootStatus.CREATING:
            self._create_all(boots, stopping)
            if not self._is_stopped(progress):
                remove_surplus(replace(boots, halt=stopping))
            if stopping.is_set():
                return False
            self._conclude(progress)
        if progress.record.status != BootStatus.ROLLING_BACK:
            return True
        rolled_back = roll_back(replace(boots, halt=stopping), hooks.release)
        if rolled_back:
            progress.change_status(
                BootStatus.ROLLED_BACK, progress.record.reasons)
        return rolled_back

    def _begin(self, progress: Progress, group: GroupRecord) -> bool:
        """Write the rows of the servers if no engine has written them; False
        if the boot has ended, because there is nothing to create."""
        if progress.record.status == BootStatus.ROLLING_BACK:
            return True
        if self._is_stopped(progress):
            progress.change_status(BootStatus.STOPPED)
            return False
        if progress.record.status != BootStatus.WAITING:
            return True
        if group.status in WITHOUT_PLAN:
            progress.change_status(BootStatus.FAILED, [
                {'at': '', 'message': f'the group is {group.status}'}])
            return False
        progress.begin_boot([
            row.member.path for row in self._table.members(group.uuid)
            if row.state != MemberState.RELEASED])
        return True

    def _create_all(self, boots: MemberBoots,
                    stopping: threading.Event) -> None:
        """Return when each server is active or has failed, or when no further
        server may be created."""
        record = boots.progress.record
        rows = [row for row in self._table.boots.servers(record.group_uuid)
                if row.state in UNFINISHED]
        context = RequestContext(
            record.request_id, record.project_id, record.user_id)

        def create(row: BootServer) -> None:
            with context.logged():
                after = boots.run(row)
            if record.rollback and after.state == BootServerState.FAILED:
                boots.halt.set()

        pool = futurist.ThreadPoolExecutor(self._conf.parallel)
        pending = {pool.submit(create, row) for row in rows}
        try:
            self._await(pending, boots, stopping)
        finally:
            boots.halt.set()
            futures.wait(pending)
            # An idle thread of futurist ends only after a second.
            pool.shutdown(wait=False)

    def _await(self, pending: set[futures.Future], boots: MemberBoots,
               stopping: threading.Event) -> None:
        """
        :raises HolisticError: the error of one of the members, after all
            others have ended
        """
        errors: list[BaseException] = []
        while pending:
            finished, pending = futures.wait(
                pending, self._conf.poll_interval,
                return_when=futures.FIRST_COMPLETED)
            failures = [boot.exception() for boot in finished
                        if boot.exception()]
            errors += failures
            if stopping.is_set() or self._is_stopped(boots.progress) or any(
                    isinstance(failure, (OwnershipLost, RightUnavailable))
                    for failure in failures):
                boots.halt.set()
        if errors:
            raise min(errors, key=_rank)

    def _is_stopped(self, progress: Progress) -> bool:
        record = self._table.boots.get(progress.record.group_uuid)
        if record is None or record.engine != progress.record.engine:
            raise OwnershipLost(
                'the creation of its servers belongs to another engine')
        return record.stopping

    def _conclude(self, progress: Progress) -> None:
        """Write the result of the creation."""
        if self._is_stopped(progress):
            progress.change_status(BootStatus.STOPPED)
            return
        reasons = _reasons(
            self._table.boots.servers(progress.record.group_uuid))
        if not reasons:
            progress.change_status(BootStatus.COMPLETE)
        elif progress.record.rollback:
            progress.change_status(BootStatus.ROLLING_BACK, reasons)
        else:
            progress.change_status(BootStatus.FAILED, reasons)

    def _give_up(self, progress: Progress, why: str) -> None:
        """The boot has failed, and so has each server that is not active."""
        self._fail_servers(progress, why)
        messages = [why, NOT_ROLLED_BACK] if progress.record.rollback else [
            why]
        progress.change_status(BootStatus.FAILED, [
            *progress.record.reasons,
            *({'at': '', 'message': message} for message in messages)])

    @staticmethod
    def _fail_servers(progress: Progress, why: str) -> None:
        for row in progress.boots.servers(progress.record.group_uuid):
            if row.state in UNFINISHED:
                progress.write_server(
                    row, state=BootServerState.FAILED, fault=why)


def _reasons(rows: Sequence[BootServer]) -> list[dict[str, str]]:
    return [{'at': row.path, 'message': row.fault or ''}
            for row in rows if row.state == BootServerState.FAILED]


def _rank(error: BaseException) -> int:
    """The errors that end the work come first."""
    return next((at for at, kind in enumerate(
        (OwnershipLost, RightUnavailable)) if isinstance(error, kind)), 2)
