# SPDX-License-Identifier: Apache-2.0
"""Reconciles the table with Placement and Nova after faults and crashes."""

from collections.abc import (
    Callable, Collection, Iterable, Mapping)
from collections import Counter
from datetime import datetime, timedelta
import threading

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.decision.link_use import LinkUse
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.engine import reasons
from nova_holistic.engine.update.unneeded_holds import GONE
from nova_holistic.reconcile.claimed_servers import ServerReconciler
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.degraded_groups import DegradationCheck
from nova_holistic.reconcile.missing_holds import MissingHolds
from nova_holistic.reconcile.orphan_holds import OrphanHolds
from nova_holistic.reconcile.pace import Pace
from nova_holistic.reconcile.pass_reads import PassReads
from nova_holistic.reconcile.unavailable_hosts import UnavailableHosts
from nova_holistic.table.group_reasons import about_others
from nova_holistic.table.queries.outline_index import GIVEN_UP, Outlines
from nova_holistic.table.queries.overview import GroupOutline, MemberOutline
from nova_holistic.table.records import GroupStatus, MemberRecord, MemberState

LOG = logging.getLogger(__name__)


class Reconciler:
    """Corrects the table and Placement in passes. After a pass, the table and
    Placement agree if both respond.

    Every change is a compare-and-swap: passes, plans, claims and releases may
    run at the same time. An error in one case leaves this case to the next
    pass.
    """

    def __init__(self, components: ReconcileComponents):
        self._conf = conf = components.conf
        self._table = table = components.table
        self._outlines = table.outlines
        self._holds = holds = components.holds
        self._clock = clock = components.clock
        self._inventory = inventory = components.inventory
        self._planner = Planner(conf, inventory, table, holds, clock)
        self._lifecycle = Lifecycle(conf, table, holds, clock)
        self._orphans = OrphanHolds(conf, table, holds, clock)
        self._link_use = LinkUse(table, GroupParser().policy_types)
        self._vanished = MissingHolds(conf, table, holds, clock)
        self._unavailable = UnavailableHosts(
            conf, inventory, table, holds, clock)
        self._servers = ServerReconciler(components)
        # A pass may be in progress while a report is processed.
        self._reported = ServerReconciler(components)
        self._degradation_check = DegradationCheck(conf, inventory, table,
                                                   holds, clock)
        self._check_lock = threading.Lock()

    def reconcile(self, pace: Pace | None = None) -> Mapping[str, int]:
        """Run one pass; returns the number of corrections of each kind.

        :param pace: pauses of the search for holds without a row, which sends
            most of the requests; None means none
        """
        repaired: Counter[str] = Counter()
        self._outlines.compare_some()
        outlines = self._outlines.read()
        repaired['expired'] = len(self._lifecycle.expire())
        self._each(repaired, 'abandoned', self._abandon,
                   outlines.active(outlines.planning))
        outlines = self._outlines.read()
        self._each(repaired, 'stray', self._release_stray, [
            member for uuid in sorted(outlines.stray)
            for member in outlines.members(
                uuid, [MemberState.PLANNED], GIVEN_UP)])
        self._each(repaired, 'leftover', self._drop_leftover,
                   self._table.find_members(GONE, held=True))
        reads = PassReads(self._inventory, self._holds)
        self._each(repaired, 'stranded', self._unavailable.give_up,
                   self._unavailable.stranded(
                       outlines.planned_hosts, reads.snapshot))
        self._vanished.reconcile_members(
            repaired, outlines.planned, reads, self._each)
        self._servers.reconcile_members(repaired, self._each)
        for group_uuid in sorted(self._outlines.read().unsettled):
            self._table.settle(group_uuid, self._clock())
            crash_points.reached('reconcile.settled')
        repaired['stray'] += self._table.volumes.release_unplanned(
            self._clock())
        self._link_use.refresh()
        self._check_policies(repaired)
        self._each(repaired, 'restored', self._restore_places,
                   self._returning(outlines))
        self._each(repaired, 'replanned', self._replan,
                   self._waiting(outlines))
        # The other corrections do not wait for the pauses of this search.
        repaired['orphaned'] = self._orphans.sweep(reads.generations, pace)
        return +repaired

    def check_servers(self, instance_uuids: Collection[str]
                      ) -> frozenset[str]:
        """Correct the members of some servers now, without a complete pass.

        Only one caller may call this method at a time.

        :param instance_uuids: UUIDs of servers whose change was reported
        :returns: UUIDs of the servers whose members are not settled yet
        :raises TableError: the table does not respond
        """
        repaired: Counter[str] = Counter()
        unsettled = self._reported.reconcile_reported(
            repaired, instance_uuids, self._each)
        if +repaired:
            LOG.info('Corrected members of reported servers: %s',
                     dict(+repaired))
            for group_uuid in sorted(self._outlines.read().unsettled):
                self._table.settle(group_uuid, self._clock())
                crash_points.reached('reconcile.settled')
        if repaired['moved']:
            self._check_policies(repaired)
        return unsettled

    def check_hosts(self) -> None:
        """Check the hosts of planned members now, without a complete pass.

        :raises TableError: the table does not respond
        """
        repaired: Counter[str] = Counter()
        outlines = self._outlines.read()
        self._each(repaired, 'stranded', self._unavailable.give_up,
                   self._unavailable.stranded(
                       outlines.planned_hosts,
                       self._inventory.cached_snapshot))
        self._each(repaired, 'restored', self._restore_places,
                   self._returning(outlines))
        self._each(repaired, 'replanned', self._replan,
                   self._waiting(outlines))
        if +repaired:
            LOG.info('Corrected members of reported hosts: %s',
                     dict(+repaired))

    def _check_policies(self, repaired: Counter[str]) -> None:
        # Passes and reports share the inputs of the last check.
        with self._check_lock:
            repaired.update(self._degradation_check.check())

    @staticmethod
    def _each(repaired: Counter[str], case: str,
              repair: Callable[..., bool], things: Iterable) -> None:
        """Call a repair for each item and count the successful repairs. If a
        repair fails, log the error and continue.

        :param repaired: number of repairs by kind, which is updated
        :param case: kind of the repair
        """
        for thing in things:
            try:
                repaired[case] += bool(repair(thing))
            except exceptions.HolisticError:
                LOG.exception('The pass could not correct a case of "%s": %s',
                              case, thing)
            crash_points.reached('reconcile.corrected')

    def _abandon(self, group: GroupOutline) -> bool:
        """Give up a group whose planner failed before it wrote the status
        planned.

        The planner may have failed before or after its holds were written. If
        the planner was an engine, another engine finishes its work.
        """
        now = self._clock()
        if (group.status != GroupStatus.PLANNING or group.task is not None
                or not self._abandoned(group.updated_at)):
            return False
        if not self._table.update_group(
                group.uuid, [GroupStatus.PLANNING], status=GroupStatus.ERROR,
                updated_at=now, reasons=[
                    reasons.of_engine('planning was interrupted').to_row()]):
            return False
        crash_points.reached('abandon.given-up')
        self._table.release(
            [m.hold for m in self._table.members(group.uuid)], now)
        self._table.volumes.release(group.uuid, now)
        return True

    def _release_stray(self, member: MemberOutline) -> bool:
        """Release a planned member of a group that was given up. A planner
        wrote the member too late, or did not release it.

        No server can claim such a member.
        """
        group = self._table.get_group(member.group_uuid)
        if (group is None or group.task is not None
                or group.status not in GIVEN_UP):
            return False
        self._table.release([member.hold], self._clock())
        return True

    def _drop_leftover(self, member: MemberRecord) -> bool:
        """Drop the hold of a released, failed or lost member. The process that
        should drop it failed before Placement responded.

        The row keeps the hold until the grace period has ended: if the process
        was only slow, its request may still be in progress. The hold of a lost
        member is not dropped before that, because it may be the hold of a new
        plan.
        """
        if (member.state == MemberState.LOST
                and not self._abandoned(member.updated_at)):
            return False
        self._holds.drop([member.hold])
        crash_points.reached('leftover.dropped')
        if not self._abandoned(member.updated_at):
            return False
        self._table.forget_holds([member.hold])
        return True

    def _abandoned(self, since: datetime | None) -> bool:
        """Whether nothing has changed for longer than the grace period."""
        grace = timedelta(seconds=self._conf.reconciler.grace)
        return since is None or since <= self._clock() - grace

    def _waiting(self, outlines: Outlines) -> list[GroupOutline]:
        """Groups with lost members or volumes; the group that has been
        unchanged for the longest time is first."""
        volumes = {row.group_uuid for row in self._table.volumes.in_states(
            [MemberState.LOST])}
        waiting = sorted({
            *self._with_lost(outlines, lambda member: True),
            *(group for group in outlines.active(volumes)
              if group.task is None)},
            key=lambda group: (group.updated_at, group.uuid))
        return waiting[:self._conf.reconciler.replans]

    def _returning(self, outlines: Outlines) -> list[GroupOutline]:
        """Groups with lost members whose hosts have returned."""
        hosts = self._table.outages.returned()
        return self._with_lost(
            outlines,
            lambda member: member.place.host in hosts) if hosts else []

    def _with_lost(self, outlines: Outlines,
                   wanted: Callable[[MemberRecord], bool]
                   ) -> list[GroupOutline]:
        """Groups with certain lost members. Groups with a task are left out,
        because an engine already plans their lost members.

        :param wanted: returns whether a lost member counts
        """
        lost = {m.group_uuid for m in self._table.find_members(
            [MemberState.LOST], held=False) if wanted(m)}
        return [group for group in outlines.active(lost)
                if group.task is None]

    def _restore_places(self, group: GroupOutline) -> bool:
        return self._planner.restore(group.uuid)

    def _replan(self, group: GroupOutline) -> bool:
        return not about_others(self._planner.replan(group.uuid).reasons)
