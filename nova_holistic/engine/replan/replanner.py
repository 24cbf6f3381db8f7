# SPDX-License-Identifier: Apache-2.0
"""Finds new places for lost members."""

from collections.abc import Callable, Hashable, Mapping, Sequence
import time

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision import row_requests
from nova_holistic.engine.decision.snapshot_planner import Usable
from nova_holistic.engine import errors
from nova_holistic.engine import member_rows
from nova_holistic.engine.objective_values import objective_value
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.engine import reasons
from nova_holistic.engine.replan import (
    capacity_replan, lost_volumes, partial_replan)
from nova_holistic.engine.replan.partial_replan import (
    PartialPlan, PartialPlanner)
from nova_holistic.engine.tasks.executor import Change, Executor
from nova_holistic.engine.tasks.journal import RowJournal
from nova_holistic.engine.update.unneeded_holds import GONE
from nova_holistic.messaging.errors import GroupBusy
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.plan import Reason
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.group_reasons import BesideMissing
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table import volume_records

LOG = logging.getLogger(__name__)

DecideOn = Callable[[PlanningRequest, Usable, float], CheckedPlan]
"""Plans the members of a request on a snapshot within a number of seconds, or
raises NotPlanned."""


class Replanner:
    """Plans lost members again if the policies of their group allow it. All
    other members stay at their places.

    Members whose hosts have returned after an outage get their previous places
    back first. The others are planned jointly. If not all of them can be
    placed, as many as possible are placed, in the order of the document.
    """

    def __init__(self, parts: PlannerComponents,
                 timer: Callable[[], float] = time.perf_counter):
        """:param timer: returns seconds, to measure durations"""
        self._parts = parts
        self._timer = timer
        self._executor = Executor(parts)

    def replan(self, group_uuid: str) -> GroupRecord:
        """Plan lost members of a group again: see ``Planner.replan``."""
        table = self._parts.table
        record = table.get_group(group_uuid)
        if record is None:
            raise table_errors.GroupUnknown(group_uuid)
        if record.status == GroupStatus.PLANNING:
            raise GroupBusy(f'group {group_uuid} is being planned')
        if record.status in volume_records.CLAIMABLE:
            table.update_group(
                record.uuid, volume_records.CLAIMABLE,
                updated_at=self._parts.clock(),
                reasons=BesideMissing(self.reasons(record)))
            crash_points.reached('replan.reasons-written')
            table.settle(record.uuid, self._parts.clock())
        return table.get_group(group_uuid) or record

    def restore(self, group_uuid: str) -> bool:
        """Hold the previous places of lost members again: see
        ``Planner.restore``."""
        table = self._parts.table
        record = table.get_group(group_uuid)
        if record is None or record.status not in CLAIMABLE:
            return False
        try:
            restored = self._restore_places(record)
        except NotPlanned as end:
            LOG.info('Lost members of group %s do not get their former places '
                     'back: %s', group_uuid, end)
            return False
        except exceptions.InvalidDocument as error:
            # A policy of the document may no longer be installed.
            LOG.warning('Lost members of group %s do not get their former '
                        'places back, because its document is not valid: %s',
                        group_uuid, error)
            return False
        if restored and not _lost(table.members(group_uuid)):
            table.update_group(group_uuid, CLAIMABLE,
                               updated_at=self._parts.clock(),
                               reasons=BesideMissing())
        return restored

    def reasons(self, record: GroupRecord) -> Sequence[Mapping[str, str]]:
        """Plan lost members and volumes of a group in which these can be
        claimed.

        :returns: the reasons for members that stay lost, in the form of the
            table; empty if all members have places
        :raises HoldsError: Placement does not respond
        :raises TableError: the table does not respond
        """
        found: Sequence[Reason] = ()
        try:
            self._restore_places(record)
            change = _NewPlaces(self._parts, record, self._timer)
            self._executor.carry_out(change)
            found = (*change.reasons,
                     *lost_volumes.replan(self._parts, record))
        except NotPlanned as end:
            found = end.reasons
        except exceptions.InvalidDocument as error:
            found = reasons.of_errors(error)
        return [r.to_row() for r in found]

    def _restore_places(self, record: GroupRecord) -> bool:
        """Hold the previous places of lost members again.

        :returns: whether any member got its place back
        :raises NotPlanned: no attempt succeeded
        """
        return self._executor.carry_out(
            _FormerPlaces(self._parts, record, self._timer)) is not None


class _LostMembers(Change):
    """The base class of changes in which lost members get places.

    A member can be claimed as soon as its new hold exists, and not before.
    Until then, its row is lost and held.

    :ivar reasons: reasons for members that stay lost after the latest proposal
    """

    exhausted = ('the plan for the lost members was outdated {attempts} times '
                 'before it was held')
    journal: RowJournal

    def __init__(self, parts: PlannerComponents, record: GroupRecord,
                 timer: Callable[[], float]):
        self.record = record
        self.journal = RowJournal(record, parts.table, parts.holds)
        self.reasons: Sequence[Reason] = ()
        self._parts = parts
        self._timer = timer

    def write(self, proposal: Proposal) -> None:
        def offer(members: Sequence[MemberRecord]) -> None:
            if not self._parts.table.offer_places(members):
                raise errors.OutdatedPlan('the members have changed since the '
                                          'plan')

        self.journal.write(proposal.members, offer)

    def accept(self, proposal: Proposal) -> None:
        self._parts.table.accept_places(
            [m.hold for m in proposal.members], self._parts.clock())

    def drop_unneeded(self, proposal: Proposal) -> None:
        """Drop new holds of members that were released or deleted since the
        plan.
        """
        now = {m.id: m for m in self._parts.table.members(self.record.uuid)}
        unneeded = [
            m.hold for m in proposal.members if m.id not in now
            or now[m.id].hold != m.hold or now[m.id].state in GONE]
        self.journal.drop(unneeded)
        crash_points.reached('replan.unneeded-dropped')
        self._parts.table.forget_holds(unneeded)

    def _most(self, request: PlanningRequest, decide: DecideOn,
              kinds: Mapping[str, Hashable]) -> PartialPlan:
        """A plan for all lost members, or for as many as possible.

        Members are left out only if a complete snapshot does not allow a plan
        for all of them.

        :param kinds: the properties that equal members share, by the path of
            each lost member
        """
        snapshot_planner = self._parts.snapshot_planner
        limit = self._parts.conf.planner.time_limit
        found: list[Usable] = []

        def decide_all(cloud: Snapshot) -> CheckedPlan:
            found[:] = [snapshot_planner.usable(request, cloud)]
            return decide(request, found[0], limit)

        try:
            return PartialPlan(request,
                               snapshot_planner.on_cached_snapshot(decide_all),
                               frozenset(kinds), ())
        except NotPlanned as end:
            refusal = end
        usable = found[0]
        if (snapshot_planner.has_cache
                and refusal.status != GroupStatus.UNPLACEABLE):
            usable = snapshot_planner.usable(request,
                                             snapshot_planner.complete())
        deadline = self._timer() + limit
        return PartialPlanner(
            request, lambda part, seconds: decide(part, usable, seconds),
            kinds, lambda: deadline - self._timer()).plan(refusal.reasons)

    def _proposal(self, found: PartialPlan,
                  lost: Sequence[MemberRecord]) -> Proposal | None:
        decision = found.decision
        if decision is None:
            return None
        return Proposal(
            found.request, decision, member_rows.renewed_members(
                [m for m in lost if m.member.path in found.accepted],
                decision.group, decision.snapshot, decision.plan,
                self._parts.clock()))


class _FormerPlaces(_LostMembers):
    """Members get their previous places back if their hosts have returned
    after an outage and policies and capacity still allow it."""

    def propose(self) -> Proposal | None:
        table = self._parts.table
        snapshot_planner = self._parts.snapshot_planner
        hosts = table.outages.returned()
        if not hosts:
            return None
        members = table.members(self.record.uuid)
        returning = [m for m in _lost(members) if m.place.host in hosts]
        if not returning:
            return None
        request = row_requests.request_for_members(
            self._parts, self.record, members, returning)
        places = {**request.placed,
                  **{m.member.path: m.place.host for m in returning}}

        def confirm(part: PlanningRequest, usable: Usable,
                    seconds: float) -> CheckedPlan:
            return snapshot_planner.confirm(part, {
                m.path: places[m.path]
                for m in part.group.all_members()}, usable)

        found = self._most(request, confirm, {
            path: (kind, places[path]) for path, kind in partial_replan.kinds(
                request.group, places.keys() - request.placed).items()})
        return self._proposal(found, returning)


class _NewPlaces(_LostMembers):
    """Lost members get places on any suitable hosts."""

    def propose(self) -> Proposal | None:
        self.reasons = ()
        members = self._parts.table.members(self.record.uuid)
        lost = _lost(members)
        if not lost:
            return None
        request = row_requests.request_for_members(
            self._parts, self.record, members, lost)

        def decide(part: PlanningRequest, usable: Usable,
                   seconds: float) -> CheckedPlan:
            return self._parts.snapshot_planner.decide(
                part, usable=usable, time_limit=seconds)

        found = self._most(request, decide, partial_replan.kinds(
            request.group, [m.member.path for m in lost]))
        self.reasons = found.reasons
        return self._proposal(found, lost)

    def hold(self, proposal: Proposal) -> Proposal:
        return capacity_replan.hold(self._parts, self.journal, proposal)

    def accept(self, proposal: Proposal) -> None:
        super().accept(proposal)
        self._parts.table.update_group(
            self.record.uuid, CLAIMABLE,
            objective_value=objective_value(proposal))


def _lost(members: Sequence[MemberRecord]) -> Sequence[MemberRecord]:
    """Lost members that no other planner is planning."""
    return [m for m in members
            if m.state == MemberState.LOST and not m.held]
