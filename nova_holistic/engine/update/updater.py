# SPDX-License-Identifier: Apache-2.0
"""Updates a group to its revised definition, or leaves it unchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.documents.group import parse_group
from nova_holistic.engine import errors, member_rows, refused_hosts
from nova_holistic.engine.executor import Change, Executor, Parts, Proposal
from nova_holistic.engine.journal import TaskJournal
from nova_holistic.engine.ownership import Ownership
from nova_holistic.engine.questions import NotPlanned
from nova_holistic.engine.update import fewest_moves
from nova_holistic.engine.update.revised_members import (
    changed_servers, released, revised_members, RevisedMembers)
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.table.changes import revising
from nova_holistic.table.changes.revising import Revision
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)

LOG = logging.getLogger(__name__)


class Updater:
    """Members with a server stay at their places. Planned members stay if
    that is possible. If no plan keeps the hard policies, nothing changes.

    A member that is removed gives its hold back. If a server was created for
    it, the member is removed and the server lives on. If a server is about to
    be created for it, that create is refused.

    New holds are put before old ones are dropped. If there is no room for
    both, they are exchanged in one step, and the members that move cannot be
    claimed until the update is finished.
    """

    def __init__(self, parts: Parts):
        self._parts = parts
        self._executor = Executor(parts)

    def update(self, record: GroupRecord) -> Mapping[str, Any]:
        """Do the task of a group.

        :returns: changes with which the task ends: why it was refused
        :raises InvalidDocument: the definition, or one of its flavors or
            levels, cannot be accepted; nothing has changed
        :raises HoldsError: Placement does not answer; nothing has changed
        :raises HoldsLeft: the same, and the task has to stay
        :raises OwnershipLost: the group belongs to another engine
        """
        journal = self._journal(record)
        if journal.recover():
            return {'reasons': ()}
        document = (record.pending or {})['document']
        try:
            revised = parse_group(document, self._parts.policy_types)
            proposal = self._executor.carry_out(
                _Update(self._parts, journal, record, revised))
        except NotPlanned as end:
            return {'reasons': _told(end.reasons)}
        return {'reasons': _told(self._late(proposal))}

    def undo(self, record: GroupRecord) -> None:
        """Nothing of an update that is given up stays held.

        :param record: as ``table.tasks.take`` returned it
        :raises HoldsLeft: Placement does not answer; the task has to stay
        """
        self._journal(record).recover()

    def _journal(self, record: GroupRecord) -> TaskJournal:
        parts = self._parts
        return TaskJournal(Ownership(parts.table, record, parts.clock),
                           parts.table, parts.holds, parts.clock)

    def _late(self, proposal: Proposal) -> Sequence[Reason]:
        """Servers from outside the group that were created on an exclusive
        host of the group before the table named the host.

        The group is updated already. If they cannot be determined, no reason
        is given.
        """
        if not proposal.decision.exclusive:
            return ()
        question = replace(proposal.question, vacated=())
        try:
            return self._parts.decider.objections(
                question, proposal.decision,
                [m.place.host for m in proposal.members])
        except exceptions.HolisticError as error:
            LOG.warning('Group %s was updated, but it was not checked whether '
                        'other servers were created on its hosts at the same '
                        'time: %s',
                        question.uuid, error)
            return ()


@dataclass(frozen=True, slots=True)
class _Revision(Proposal):
    """How a group becomes its revised definition.

    :ivar vacated: unchanged rows of members that give up their old holds
    :ivar exchanged: whether they have given them up already
    """

    where: RevisedMembers
    vacated: Sequence[MemberRecord]
    exchanged: bool = False

    def seen(self, row: MemberRecord) -> MemberRecord:
        """A row as the table should contain it after the update."""
        if self.exchanged and row.state == MemberState.PLANNED:
            return replace(row, state=MemberState.LOST)
        return row

    def unneeded(self) -> Sequence[str]:
        """Holds that no row names after the update.

        The hold of a member whose server is being created may still exist.
        """
        given_up = {m.hold for m in self.vacated}
        leftover = [
            m.hold for m in (*self.where.anew.values(), *self.where.removed)
            if (m.held or m.state == MemberState.CLAIMED)
            and m.hold not in given_up]
        return leftover if self.exchanged else [
            *leftover, *(m.hold for m in self.vacated)]


class _Update(Change):
    """The rows of a group become those of its revised definition, in one
    transaction. Until then, the task names the new holds."""

    exhausted = ('what was planned went away {attempts} times while the group '
                 'was updated')
    journal: TaskJournal

    def __init__(self, parts: Parts, journal: TaskJournal,
                 record: GroupRecord, revised: Group):
        self.record = record
        self.journal = journal
        self._parts = parts
        self._asked = record.pending or {}
        self._revised = revised
        self._before = released(record, parts.table.members(record.uuid))

    def propose(self) -> _Revision:
        parts, record = self._parts, self.record
        where = replace(
            revised_members(record, self._revised,
                            parts.table.members(record.uuid), self._before),
            refused=refused_hosts.read(
                parts.conf, parts.table, record.uuid, parts.clock()),
            server_groups=parts.table.bindings.server_groups(record.uuid))
        changed = changed_servers(record, where)
        if changed:
            raise NotPlanned(GroupStatus.ERROR, changed)
        moving, question, decision = fewest_moves.decide(
            parts.decider, record, where, self._asked['document'],
            self._asked.get('objective') or record.objective)
        rows = member_rows.planned_members(
            record.uuid, decision.group, decision.snapshot, decision.plan,
            parts.clock())
        return _Revision(
            question, decision,
            [row for row in rows if row.member.path in moving
             or row.member.path not in question.placed],
            where, where.vacated(moving))

    def write(self, proposal: _Revision) -> None:
        self.journal.write([m.hold for m in proposal.members])

    def hold(self, proposal: _Revision) -> _Revision:
        """
        :returns: the proposal, with its old holds given up if the new ones
            took their room
        """
        try:
            self.journal.put(proposal.members)
            return proposal
        except hold_errors.CapacityGone:
            if not proposal.vacated:
                raise
        LOG.info('Group %s needs the room that it has', self.record.uuid)
        old = [m.hold for m in proposal.vacated]
        self.journal.write([m.hold for m in proposal.members], old)
        crash_points.reached('update.room-noted')
        if not revising.vacate(
                self._parts.table.database, self.record.uuid,
                self.record.engine or '', proposal.vacated,
                self._parts.clock()):
            raise errors.Overtaken('the members have changed since the plan')
        crash_points.reached('update.vacated')
        self.journal.exchange(old, proposal.members)
        return replace(proposal, exchanged=True,
                       question=replace(proposal.question, vacated=()))

    def accept(self, proposal: _Revision) -> None:
        if not revising.revise(
                self._parts.table.database, self.record.uuid,
                self.record.engine or '', self._revision(proposal),
                self._parts.clock()):
            raise errors.Overtaken('the members have changed since the plan')

    def drop_unneeded(self, proposal: _Revision) -> None:
        self.journal.close(proposal.unneeded())

    def _revision(self, proposal: _Revision) -> Revision:
        where, document = proposal.where, self._asked['document']
        now = {**where.anew, **where.movable}
        return Revision(
            self._group_changes(proposal),
            {m.path: m.description for m in where.revised.all_members()},
            [(proposal.seen(now[row.member.path]), row)
             for row in proposal.members if row.member.path in now],
            [proposal.seen(row) for row in where.removed],
            [row for row in proposal.members if row.member.path not in now],
            fewest_moves.outdates(
                self.record, document, where, proposal.members),
            where.wanted_again)

    def _group_changes(self, proposal: _Revision) -> Mapping[str, Any]:
        changes = {
            'name': self._revised.name, 'document': self._asked['document'],
            'objective': proposal.question.objective,
            'levels': proposal.decision.snapshot.levels,
            'exclusive': proposal.decision.exclusive,
            'pending': self.journal.revised_with(proposal.unneeded())}
        if self.record.status not in SETTLING:
            changes['status'] = GroupStatus.PLANNED
        if proposal.members or self._asked.get('lease') == 0:
            changes['lease_expires_at'] = self._lease_end()
        return changes

    def _lease_end(self) -> datetime | None:
        """New members have as much time as those of a new group. The others
        have no less than they had. An update that asks for no lease ends it.
        """
        seconds = self._asked.get('lease')
        if seconds == 0:
            return None
        if seconds is None:
            seconds = self._parts.conf.planner.lease
        now = self._parts.clock()
        anew = now + timedelta(seconds=seconds) if seconds else None
        if self.record.status not in SETTLING:
            return anew
        group = self._parts.table.get_group(self.record.uuid) or self.record
        ends = group.lease_expires_at
        if ends is None or anew is None:
            return ends if ends is None or ends > now else anew
        return max(ends, anew)


def _told(found: Sequence[Reason]) -> Sequence[Mapping[str, str]]:
    return [r.to_row() for r in found]
