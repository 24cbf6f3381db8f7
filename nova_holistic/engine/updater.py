# SPDX-License-Identifier: Apache-2.0
"""Updates a group to its revised definition, or leaves it unchanged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from oslo_log import log as logging

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.decider import (
    Decider, Decision, NotPlanned, Question)
from nova_holistic.engine import fewest_moves
from nova_holistic.engine.journal import Journal
from nova_holistic.engine import member_rows
from nova_holistic.engine.ownership import Ownership
from nova_holistic.engine import reasons
from nova_holistic.engine import refused_hosts
from nova_holistic.engine.revised_members import (
    changed_servers, released, revised_members, RevisedMembers)
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table import errors as table_errors
from nova_holistic.table.progress import SETTLING
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table import revising
from nova_holistic.table.revising import Revision
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a group is to become what was asked for.

    :ivar anew: rows of members that get a place, with their new holds
    :ivar vacated: rows as they are of those whose old holds are given up
    :ivar exchanged: whether those are given up already
    """

    where: RevisedMembers
    question: Question
    decision: Decision
    anew: Sequence[MemberRecord]
    vacated: Sequence[MemberRecord]
    exchanged: bool = False

    def seen(self, row: MemberRecord) -> MemberRecord:
        """A row as it should be in the table by now."""
        if self.exchanged and row.state == MemberState.PLANNED:
            return replace(row, state=MemberState.LOST)
        return row


class Updater:
    """Whoever has a server stays, and whoever is planned stays if that can
    be; where no plan keeps the hard policies nothing changes at all.

    A member that is removed gives its hold back. If a server has it, it is
    forgotten, and the server lives on; a server that is only about to get it
    is refused instead.

    New holds are put before old ones are dropped. Only where there is no room
    for both do they change in one step, and for as long as that takes the
    members that move cannot be claimed.
    """

    def __init__(self, conf, decider: Decider, table: PlacementTable,
                 holds: HoldClient, policy_types: PolicyTypes,
                 clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._conf = conf
        self._decider = decider
        self._table = table
        self._holds = holds
        self._policy_types = policy_types
        self._clock = clock

    def update(self, record: GroupRecord) -> Mapping[str, Any]:
        """Do what the group's task says.

        :returns: changes with which the task ends: why it was refused
        :raises InvalidDocument: the definition, or its flavors or levels, can
            not be accepted; nothing has changed
        :raises HoldsError: Placement does not answer; nothing has changed
        :raises HoldsLeft: the same, and the task has to stay
        :raises OwnershipLost: the group is another engine's
        """
        journal = self._journal(record)
        if journal.revised:
            journal.close()
            return {'reasons': ()}
        journal.undo()
        asked = record.pending or {}
        try:
            return self._update(
                record, journal,
                parse_group(asked['document'], self._policy_types))
        except NotPlanned as end:
            return {'reasons': _told(end.reasons)}

    def undo(self, record: GroupRecord) -> None:
        """Nothing of an update that is given up stays held.

        :param record: as ``table.tasks.take`` gave it
        :raises HoldsLeft: Placement does not answer; the task has to stay
        """
        journal = self._journal(record)
        if journal.revised:
            journal.close()
        else:
            journal.undo()

    def _journal(self, record: GroupRecord) -> Journal:
        return Journal(Ownership(self._table, record, self._clock),
                       self._table, self._holds, self._clock)

    def _update(self, record: GroupRecord, journal: Journal,
                revised: Group) -> Mapping[str, Any]:
        """Plan on fresh snapshots and rows until both still are as planned.
        """
        refusal: Exception | None = None
        before = released(record, self._table.members(record.uuid))
        for _ in range(self._conf.planner.attempts):
            where = replace(
                revised_members(
                    record, revised, self._table.members(record.uuid), before),
                refused=refused_hosts.read(
                    self._conf, self._table, record.uuid, self._clock()))
            changed = changed_servers(record, where)
            if changed:
                raise NotPlanned(GroupStatus.ERROR, changed)
            plan = self._plan(record, where)
            try:
                return self._carry_out(record, journal, plan)
            except (hold_errors.CapacityGone, _Overtaken) as error:
                LOG.info('The update of group %s is planned anew: %s',
                         record.uuid, error)
                refusal = error
        raise NotPlanned(GroupStatus.ERROR, [reasons.with_detail(
            f'what was planned went away {self._conf.planner.attempts} times '
            f'while the group was updated', refusal)])

    def _plan(self, record: GroupRecord, where: RevisedMembers) -> _Plan:
        asked = record.pending or {}
        moving, question, decision = fewest_moves.decide(
            self._decider, record, where, asked['document'],
            asked.get('objective') or record.objective)
        new = member_rows.planned_members(
            record.uuid, decision.group, decision.snapshot, decision.plan,
            decision.alternates(), self._clock())
        return _Plan(
            where, question, decision,
            [row for row in new if row.member.path in moving
             or row.member.path not in question.placed],
            where.vacated(moving))

    def _carry_out(self, record: GroupRecord, journal: Journal,
                   plan: _Plan) -> Mapping[str, Any]:
        """Hold, write, and drop what is not needed any more.

        :raises CapacityGone: there is no room as planned
        """
        try:
            plan = self._hold(record, journal, plan)
            self._must_fit(plan)
            unneeded = _unneeded(plan)
            if not revising.revise(
                    self._table.database, record.uuid, record.engine or '',
                    self._revision(record, journal, plan, unneeded),
                    self._clock()):
                raise _Overtaken('members changed meanwhile')
        except table_errors.TableError:
            # It may have been written: the table tells, when it does again.
            raise
        except BaseException:
            journal.undo()
            raise
        journal.close(unneeded)
        return {'reasons': _told(self._late(plan))}

    def _hold(self, record: GroupRecord, journal: Journal,
              plan: _Plan) -> _Plan:
        """Hold all new places.

        :returns: the plan, without old holds where the new ones took their
            room
        """
        owner = record.project_id, record.user_id
        put = [m.hold for m in plan.anew]
        journal.open(put)
        try:
            self._holds.put(plan.anew, *owner)
            return plan
        except hold_errors.CapacityGone:
            if not plan.vacated:
                raise
        LOG.info('Group %s needs the room that it has', record.uuid)
        old = [m.hold for m in plan.vacated]
        journal.open(put, old)
        if not revising.vacate(
                self._table.database, record.uuid, record.engine or '',
                plan.vacated, self._clock()):
            raise _Overtaken('members changed meanwhile')
        self._holds.exchange(old, plan.anew, *owner)
        return replace(plan, exchanged=True,
                       question=replace(plan.question, vacated=()))

    def _must_fit(self, plan: _Plan) -> None:
        objections = self._objections(plan)
        if objections:
            raise _Overtaken(objections[0].message)

    def _late(self, plan: _Plan) -> Sequence[Reason]:
        """Who came onto a host that the group has to itself, before the table
        told of that.

        The group is revised by now: where nobody can tell, nothing is told.
        """
        if not plan.decision.exclusive:
            return ()
        try:
            return self._objections(
                replace(plan, question=replace(plan.question, vacated=())))
        except exceptions.HolisticError as error:
            LOG.warning('Group %s was updated, and nobody has looked who came '
                        'meanwhile: %s', plan.question.uuid, error)
            return ()

    def _objections(self, plan: _Plan) -> Sequence[Reason]:
        return self._decider.objections(
            plan.question, plan.decision, [m.place.host for m in plan.anew])

    def _revision(self, record: GroupRecord, journal: Journal, plan: _Plan,
                  unneeded: Sequence[str]) -> Revision:
        where, asked = plan.where, record.pending or {}
        rows_now = {**where.anew, **where.movable}
        changes = {
            'name': where.revised.name, 'document': asked['document'],
            'objective': plan.question.objective,
            'levels': plan.decision.snapshot.levels,
            'exclusive': plan.decision.exclusive,
            'pending': journal.revised_with(unneeded)}
        if record.status not in SETTLING:
            changes['status'] = GroupStatus.PLANNED
        if plan.anew or asked.get('lease') == 0:
            changes['lease_expires_at'] = self._lease(record)
        return Revision(
            changes,
            {m.path: m.description for m in where.revised.all_members()},
            [(plan.seen(rows_now[row.member.path]), row) for row in plan.anew
             if row.member.path in rows_now],
            [plan.seen(row) for row in where.removed],
            [row for row in plan.anew if row.member.path not in rows_now],
            fewest_moves.outdates(record, asked['document'], where, plan.anew),
            where.wanted_again)

    def _lease(self, record: GroupRecord) -> datetime | None:
        """New members have as much time as those of a new group; the others
        no less than they had. An update that asks for no lease ends it."""
        seconds = (record.pending or {}).get('lease')
        if seconds == 0:
            return None
        if seconds is None:
            seconds = self._conf.planner.lease
        now = self._clock()
        anew = now + timedelta(seconds=seconds) if seconds else None
        if record.status not in SETTLING:
            return anew
        group = self._table.get_group(record.uuid) or record
        ends = group.lease_expires_at
        if ends is None or anew is None:
            return ends if ends is None or ends > now else anew
        return max(ends, anew)


def _unneeded(plan: _Plan) -> Sequence[str]:
    """Holds that no row will tell of, once the group is revised.

    Of a member whose server is being created that may still be there.
    """
    given_up = {m.hold for m in plan.vacated}
    leftover = [m.hold for m in (*plan.where.anew.values(),
                                 *plan.where.removed)
                if (m.held or m.state == MemberState.CLAIMED)
                and m.hold not in given_up]
    return leftover if plan.exchanged else [
        *leftover, *(m.hold for m in plan.vacated)]


def _told(found: Sequence[Reason]) -> Sequence[Mapping[str, str]]:
    return [r.to_row() for r in found]


class _Overtaken(exceptions.HolisticError):
    """The cloud or the group changed while the plan was made."""
