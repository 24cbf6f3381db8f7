# SPDX-License-Identifier: Apache-2.0
"""Updates a group to its revised definition, or leaves it unchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.documents.groups.adoption import (
    adoptions, must_be_allowed, without_adoptions)
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.binding.adoption import Adopter, ReadServers
from nova_holistic.engine.decision.planning_request import (
    CheckedPlan, NotPlanned, PlanningRequest)
from nova_holistic.engine.decision import refused_hosts, unused_groups
from nova_holistic.engine import errors, volume_rows
from nova_holistic.engine.fewer_members import FewerMembers
from nova_holistic.engine import member_rows
from nova_holistic.engine.objective_values import changed_value
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine import reasons
from nova_holistic.engine.tasks.executor import Change, Executor
from nova_holistic.engine.tasks.journal import TaskJournal
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.engine.update import (
    adopted_members, built_members, fewest_moves, missing_members)
from nova_holistic.engine.update.late_servers import late_objections
from nova_holistic.engine.update.revised_members import (
    changed_servers, released, revised_members, RevisedMembers)
from nova_holistic.engine.update.revision_proposal import RevisionProposal
from nova_holistic.engine.update.sized_group import sized
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.table.changes import group_revision
from nova_holistic.table.changes.group_revision import Revision
from nova_holistic.table.changes.transitions import LeaseEnd
from nova_holistic.table.database import Duplicate
from nova_holistic.table.group_reasons import BesideMissing
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupRecord, GroupStatus

LOG = logging.getLogger(__name__)


class Updater:
    """Updates groups. Members with a server stay at their places. Planned
    members stay if possible. If no plan exists, nothing changes.

    The hold of a removed member is dropped. If the member has a server, the
    server remains without the group. If a server is being created for it, that
    create is refused.

    New holds are written before old ones are dropped. If the capacity is not
    sufficient for both, they are exchanged in one step, and the members that
    move cannot be claimed until the update is finished.
    """

    def __init__(self, parts: PlannerComponents):
        self._parts = parts
        self._executor = Executor(parts)
        self.read_servers: ReadServers | None = None

    def update(self, record: GroupRecord) -> Mapping[str, Any]:
        """Carry out the task of a group. A new group that adopts servers has
        no members before its plan is accepted.

        :returns: changes with which the task ends
        :raises NotPlanned: no plan exists; nothing has changed
        :raises InvalidDocument: the definition, or one of its flavors or
            levels, cannot be accepted; nothing has changed
        :raises HoldsError: Placement does not respond; nothing has changed
        :raises HoldsNotDropped: Placement does not respond, and the task must
            remain
        :raises OwnershipLost: the group belongs to another engine
        """
        journal = self._journal(record)
        if journal.recover():
            return {'reasons': BesideMissing()}
        revised = parse_group(_document(record), self._parts.policy_types)
        unused_groups.must_be_known_if_changed(self._parts, record, revised)
        proposal = self._executor.carry_out(_Update(
            self._parts, journal, record, revised,
            Adopter(self._parts, self.read_servers)))
        # The revision has written the reasons for missing members.
        late = late_objections(self._parts.snapshot_planner, proposal)
        changes: dict[str, Any] = {
            'reasons': BesideMissing(reasons.rows(late))}
        if proposal.violations:
            return {**changes, 'status': GroupStatus.DEGRADED,
                    'violations': reasons.rows(proposal.violations)}
        return changes

    def undo(self, record: GroupRecord) -> None:
        """Drop all holds of an update that is given up.

        :param record: the result of ``table.tasks.take``
        :raises HoldsNotDropped: Placement does not respond; the task must
            remain
        """
        self._journal(record).recover()

    def _journal(self, record: GroupRecord) -> TaskJournal:
        parts = self._parts
        return TaskJournal(Ownership(parts.table, record, parts.clock),
                           parts.table, parts.holds, parts.clock)


class _Update(Change):
    """The rows of a group become those of its revised definition, in one
    transaction. Until then, the task names the new holds."""

    exhausted = ('the plan of the update was outdated {attempts} times before '
                 'it was held')
    journal: TaskJournal

    def __init__(self, parts: PlannerComponents, journal: TaskJournal,
                 record: GroupRecord, revised: Group, adopter: Adopter):
        self.record = record
        self.journal = journal
        self._parts = parts
        self._adopter = adopter
        self._parameters = record.pending or {}
        self._wanted = adoptions(_document(record))
        self._document = without_adoptions(_document(record))
        self._revised = revised
        self._before = released(record, parts.table.members(record.uuid))

    def propose(self) -> RevisionProposal:
        parts, record = self._parts, self.record
        members = parts.table.members(record.uuid)
        group = sized(self._revised, members, self._wanted,
                      self._parameters.get('added', ()))
        must_be_allowed(self._revised, self._wanted.keys(), {
            member.path for member in group.all_members()})
        where = replace(
            revised_members(record, group, members, self._before),
            refused=refused_hosts.read(
                parts.conf, parts.table, record.uuid, parts.clock()),
            server_groups=parts.table.bindings.server_groups(record.uuid),
            volumes=volume_rows.staying(parts.table, record.uuid, group))
        if changed := (built_members.refused_changes(record, where)
                       if self._acts else changed_servers(record, where)):
            raise NotPlanned(GroupStatus.ERROR, changed)
        servers = self._wanted and self._adopter.find(PlanningRequest(
            where.revised, self._objective, record.uuid,
            project_id=record.project_id), self._wanted)
        where = adopted_members.with_adopted_servers(where, servers, members)
        where, (moving, request, decision, violations), missing = (
            missing_members.decide(
                FewerMembers(parts.snapshot_planner,
                             parts.conf.planner.time_limit), where,
                self._decided,
                where.request(record, self._objective, where.movable),
                self._parameters.get('added', ())))
        rows = member_rows.planned_members(
            record.uuid, decision.group, decision.snapshot, decision.plan,
            parts.clock())
        return RevisionProposal(
            request, decision,
            [row for row in rows if row.member.path in moving
             or row.member.path not in request.placed],
            where, where.vacated(moving), adopted=where.adopted.built(rows),
            violations=violations, missing=missing)

    def _decided(self, where: RevisedMembers) -> tuple[
            frozenset[str], PlanningRequest, CheckedPlan, Sequence[Reason]]:
        planner = self._parts.snapshot_planner

        def plan(members: RevisedMembers) -> tuple[
                frozenset[str], PlanningRequest, CheckedPlan]:
            return fewest_moves.decide(
                planner, self.record, members, self._document, self._objective)

        acts = self._acts and bool(where.fixed)
        if not (where.adopted.servers or acts
                or built_members.only_removes(self.record, where)):
            return *plan(where), ()
        *found, violations = adopted_members.decide(
            where, plan, lambda request: planner.usable(
                request, planner.cached_snapshot(()))[0],
            where.request(self.record, self._objective),
            bool(self._parameters.get('strict')))
        if acts and (violations or changed_servers(self.record, where)):
            built_members.must_be_possible(
                planner, self.record, where, self._objective)
        return *found, violations

    @property
    def _acts(self) -> bool:
        return built_members.allowed(self._parameters)

    @property
    def _objective(self) -> str:
        return self._parameters.get('objective') or self.record.objective

    def write(self, proposal: RevisionProposal) -> None:
        self.journal.write([m.hold for m in proposal.members])

    def hold(self, proposal: RevisionProposal) -> RevisionProposal:
        """Hold the places of the proposal. If the capacity is not sufficient,
        the new holds replace the vacated holds, and the returned proposal
        states this."""
        try:
            self.journal.put(proposal.members)
            return proposal
        except hold_errors.CapacityUnavailable:
            if not proposal.vacated:
                raise
        LOG.info('Group %s needs the capacity of its holds: they are '
                 'replaced', self.record.uuid)
        old = [m.hold for m in proposal.vacated]
        self.journal.write([m.hold for m in proposal.members], old)
        crash_points.reached('update.room-noted')
        if not group_revision.vacate(
                self._parts.table.database, self.record.uuid,
                self.record.engine or '', proposal.vacated,
                self._parts.clock()):
            raise errors.OutdatedPlan(
                'the members have changed since the plan')
        crash_points.reached('update.vacated')
        self.journal.exchange(old, proposal.members)
        return replace(proposal, exchanged=True,
                       request=replace(proposal.request, vacated=()))

    def accept(self, proposal: RevisionProposal) -> None:
        servers = proposal.where.adopted.servers
        if servers:
            self._adopter.check_unchanged(servers, self.record.project_id)
        try:
            done = group_revision.revise(
                self._parts.table.database, self.record.uuid,
                self.record.engine or '', self._revision(proposal),
                self._parts.clock())
        except Duplicate as error:
            raise errors.OutdatedPlan(
                'an adopted server has become a member elsewhere') from error
        if not done:
            raise errors.OutdatedPlan(
                'the members have changed since the plan')

    def drop_unneeded(self, proposal: RevisionProposal) -> None:
        self.journal.close(proposal.unneeded())

    def _revision(self, proposal: RevisionProposal) -> Revision:
        where = proposal.where
        now = {**where.to_plan, **where.movable}
        return Revision(
            self._group_changes(proposal),
            {m.path: m.description for m in where.servers},
            [(proposal.seen(now[row.member.path]), row)
             for row in proposal.members if row.member.path in now]
            + [(proposal.seen(before), row)
               for before, row in proposal.adopted if before is not None],
            [proposal.seen(row) for row in where.removed],
            [row for row in proposal.members if row.member.path not in now]
            + [row for before, row in proposal.adopted if before is None],
            fewest_moves.invalidates_alternates(
                self.record, self._document, where, proposal.members),
            where.wanted_again, where.seen, where.volume_paths)

    def _group_changes(self, proposal: RevisionProposal) -> Mapping[str, Any]:
        changes = {
            'name': self._revised.name, 'document': self._document,
            'objective': proposal.request.objective,
            **proposal.decision.group_fields(),
            'reasons': reasons.rows(proposal.missing),
            'pending': self.journal.revised_with(proposal.unneeded())}
        changes |= changed_value(self.record, proposal)
        if self.record.status not in SETTLING:
            changes['status'] = GroupStatus.PLANNED
        if proposal.members or self._parameters.get('lease') == 0:
            changes['lease_expires_at'] = self._lease_end()
        return changes

    def _lease_end(self) -> LeaseEnd | datetime | None:
        """New members have the lease of a new group. That of the others does
        not become shorter, even if it is extended at the same time. An update
        may request a group without a lease."""
        seconds = self._parameters.get('lease')
        if seconds == 0:
            return None
        if seconds is None:
            seconds = self._parts.conf.planner.lease
        now = self._parts.clock()
        renewed = now + timedelta(seconds=seconds) if seconds else None

        def later(ends: datetime | None) -> datetime | None:
            if ends is None or renewed is None:
                return ends if ends is None or ends > now else renewed
            return max(ends, renewed)
        return later if self.record.status in SETTLING else renewed


def _document(record: GroupRecord) -> Mapping[str, Any]:
    """The revised document; for a new group, the document of its creation."""
    return (record.pending or {}).get('document', record.document)
