# SPDX-License-Identifier: Apache-2.0
"""Repairs a degraded group by live migrations."""

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.decision.link_use import with_other_groups
from nova_holistic.engine.decision import refused_hosts
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.reconcile.checked_status import checked_status
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.reconcile.lost_places import lose_place
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.reconcile.volume_positions import VolumePositions
from nova_holistic.repair.move_order import Move
from nova_holistic.repair import proposal
from nova_holistic.repair.proposal import Proposal, RepairCase
from nova_holistic.table import errors as table_errors
from nova_holistic.table.group_reasons import BesideMissing
from nova_holistic.table.queries.progress import WITH_SERVERS
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)

LOG = logging.getLogger(__name__)

MOVABLE = ('ACTIVE', 'PAUSED')
"""Statuses of servers that Nova can live-migrate."""

POLL = 1.0
"""Interval in seconds between two reads of a server in migration."""


class Repairer:
    """Carries out repairs of degraded groups. A repair stores no state. If it
    is started again, for example after a crash, the new proposal covers the
    remaining violations.

    Servers that do not run stay on their hosts. All checks use complete
    snapshots: an operator requested the repair, and it moves servers.
    """

    def __init__(self, components: ReconcileComponents,
                 sleep: Callable[[float], object] = time.sleep,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param sleep: waits for a number of seconds
        :param timer: returns seconds, to measure durations
        """
        self._conf = conf = components.conf
        self._inventory = inventory = components.inventory
        self._table = table = components.table
        self._holds = components.holds
        self._instances = instances = components.instances
        self._clock = clock = components.clock
        self._sleep = sleep
        self._timer = timer
        self._groups = GroupParser()
        self._positions = ServerPositions(inventory, table, instances, clock)
        self._volumes = VolumePositions(table, inventory)
        self._snapshot_planner = SnapshotPlanner(
            conf, inventory, table, self._groups.policy_types, timer)

    def propose(self, group_uuid: str) -> Proposal:
        """Propose the repair of a group; nothing is changed.

        :raises GroupUnknown: no such group exists
        :raises HolisticError: Nova, Placement or the table does not respond
        """
        self._positions.refresh(group_uuid)
        found = self._table.group_with_members(group_uuid)
        if found is None:
            raise table_errors.GroupUnknown(group_uuid)
        return self._proposal(*found)

    def run(self, record: GroupRecord) -> Mapping[str, Any]:
        """Carry out the repair task of a group.

        :param record: the result of ``table.tasks.take``
        :returns: changes with which the task ends: the status, and the reasons
            why the group could not be repaired
        :raises OwnershipLost: the group belongs to another engine; a migration
            that has begun continues
        """
        ownership = Ownership(self._table, record, self._clock)
        self._wait_for_moves(ownership)
        crash_points.reached('repair.moves-awaited')
        found = self._proposal(record, self._table.members(record.uuid))
        reasons: Sequence[Reason] = found.reasons
        if not reasons:
            self._give_up_places(record, found.planned_again)
            for move in found.moves:
                ownership.change()
                crash_points.reached('repair.move-begins')
                failure = self._migrate(ownership, move)
                crash_points.reached('repair.move-ended')
                if failure is not None:
                    reasons = [failure]
                    break
        return {**checked_status(self._table, self._groups, self._inventory,
                                 record),
                'reasons': BesideMissing(
                    [reason.to_row() for reason in reasons])}

    def _proposal(self, record: GroupRecord,
                  members: Sequence[MemberRecord]) -> Proposal:
        if record.status not in (*WITH_SERVERS, GroupStatus.DEGRADED):
            return Proposal()
        built = [row for row in members if row.state == MemberState.BUILT]
        views = self._instances.find(
            [row.instance_uuid or '' for row in built], record.project_id)
        movable = {row.member.path for row in built
                   if _can_move(views.get(row.instance_uuid or ''))}
        group = self._groups.sized(record, members)
        cloud = self._inventory.snapshot()
        return proposal.propose(
            self._conf, self._snapshot_planner, RepairCase(
                record, group, self._volumes.added_now(record, members, cloud),
                with_other_groups(self._table, group, record.uuid, cloud),
                movable),
            refused_hosts.read(
                self._conf, self._table, record.uuid, self._clock()))

    def _give_up_places(self, record: GroupRecord,
                        paths: Sequence[str]) -> None:
        """Make planned members that block a migration lost. The reconciler
        plans them again after the end of the group's task."""
        for row in self._table.members(record.uuid):
            if row.member.path in paths:
                lose_place(self._table, self._holds, row, self._clock())
                crash_points.reached('repair.place-given-up')

    def _wait_for_moves(self, ownership: Ownership) -> None:
        """Wait for a live migration that a stopped engine may have left."""
        uuid = ownership.record.uuid
        deadline = self._timer() + self._conf.reconciler.migration_timeout
        while True:
            self._positions.refresh(uuid)
            moving = [row for row in self._table.members(uuid)
                      if row.destination is not None]
            if not moving or self._timer() > deadline or not any(
                    view is not None and view.status == 'MIGRATING'
                    for row in moving
                    for view in [self._instances.get(row.instance_uuid)]):
                return
            ownership.change()
            crash_points.reached('repair.waiting')
            self._sleep(POLL)

    def _migrate(self, ownership: Ownership, move: Move) -> Reason | None:
        """Live-migrate one server and wait for the end.

        :returns: the reason why it is not at its destination
        """
        view = self._instances.get(move.instance_uuid)
        if view is None or view.host != move.source or not _can_move(view):
            return Reason.of(move.member, MarkedText(
                'its server has changed since the repair was planned: request '
                'the repair again'))
        LOG.info('Group %s is repaired: server %s, member %s, moves from %s '
                 'to %s', ownership.record.uuid, move.instance_uuid,
                 move.member, move.source, move.destination)
        try:
            self._instances.live_migrate(move.instance_uuid, move.destination)
            crash_points.reached('repair.move-asked')
            view = self._ended(ownership, move)
        except ServiceFailed as error:
            return _failed(move, str(error))
        self._positions.refresh(ownership.record.uuid)
        if view is None or not _can_move(view):
            return _failed(
                move, 'the server no longer exists' if view is None
                else 'the live migration exceeded migration_timeout')
        if view.host != move.destination:
            return _failed(move, 'Nova did not move the server; its '
                                 'migrations and actions state why')
        return None

    def _ended(self, ownership: Ownership, move: Move) -> InstanceView | None:
        """The server after its migration, or after the timeout; None if the
        server does not exist."""
        deadline = self._timer() + self._conf.reconciler.migration_timeout
        while True:
            view = self._instances.get(move.instance_uuid)
            if view is None or view.task is None and not view.is_moving:
                return view
            if self._timer() > deadline:
                return view
            ownership.change()
            crash_points.reached('repair.waiting')
            self._sleep(POLL)


def _can_move(view: InstanceView | None) -> bool:
    return (view is not None and view.status in MOVABLE
            and view.task is None)


def _failed(move: Move, why: str) -> Reason:
    return Reason(
        move.member, f'the live migration to host {move.destination} failed: '
        f'{why}',
        public=str(format_message('the live migration of the server failed')))
