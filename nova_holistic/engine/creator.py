# SPDX-License-Identifier: Apache-2.0
"""Plans a group of the table and holds its places."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic.engine.decider import (
    Decider, Decision, NotPlanned, Question)
from nova_holistic.engine import errors
from nova_holistic.engine import member_rows
from nova_holistic.engine.ownership import Ownership
from nova_holistic.engine import reasons
from nova_holistic.engine import refused_hosts
from nova_holistic.engine.unneeded_holds import GONE
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupRecord, GroupStatus, MemberRecord
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class Creator:
    """A group is held whole or not at all, whatever goes wrong on the way.

    What is about to be held is in the table first, so that a crash leaves
    nothing that the reconciler, or the next planner, cannot find.
    """

    def __init__(self, conf, decider: Decider, table: PlacementTable,
                 holds: HoldClient, clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._conf = conf
        self._decider = decider
        self._table = table
        self._holds = holds
        self._clock = clock

    def plan(self, ownership: Ownership, group: Group,
             lease: int | None) -> None:
        """Plan and hold, or say in the table why not.

        Whatever happens, the group does not stay in planning; but where the
        table does not answer an engine's group does, and waits.

        :param lease: seconds; 0 is none, None what is configured
        :raises InvalidDocument: the cloud has no such flavor or level;
            nothing is held, and the table says nothing yet
        :raises TableError: the table does not answer
        :raises OwnershipLost: the group is another engine's; nothing of what
            was done here stays
        """
        try:
            self._drop_remains(ownership)
            self._decide(ownership, group, lease)
        except exceptions.InvalidDocument:
            raise
        except NotPlanned as end:
            self.give_up(ownership, end.status, end.reasons)
        except errors.OwnershipLost as lost:
            if ownership.record.engine is not None:
                raise
            self.give_up(ownership, GroupStatus.ERROR,
                         [reasons.of_error(lost)])
        except exceptions.HolisticError as error:
            unanswered = isinstance(error, table_errors.TableError)
            if not unanswered or ownership.record.engine is None:
                self.give_up(
                    ownership, GroupStatus.ERROR, [reasons.of_error(error)])
            if unanswered:
                raise
        except BaseException as error:
            self.give_up(ownership, GroupStatus.ERROR, [reasons.of_error(
                error, f'planning broke off: {error!r}')])
            raise

    def give_up(self, ownership: Ownership, status: GroupStatus,
                why: Sequence[Reason]) -> None:
        """Nothing stays held; what cannot be freed now the reconciler will.

        A put without an answer may have been carried out, so every hold
        written is dropped.

        :raises OwnershipLost: the group is another engine's, and left to it
        """
        record = ownership.record
        try:
            members = self._table.members(record.uuid)
            try:
                ownership.finish(status=status,
                                 reasons=[r.to_row() for r in why])
            except errors.OwnershipLost:
                # Whoever gave up a caller's group left its holds to it.
                if record.engine is not None:
                    raise
            self._table.release([m.hold for m in members], self._clock())
            # Whether or not a reconciler, that took this planner for dead,
            # saw to them before the put came through.
            unwanted = [m.hold for m in self._table.members(record.uuid)
                        if m.state in GONE]
            self._holds.drop(unwanted, record.project_id, record.user_id)
            self._table.forget_holds(unwanted)
        except errors.OwnershipLost:
            raise
        except exceptions.HolisticError:
            LOG.exception('Group %s is left to the reconciler', record.uuid)

    def _drop_remains(self, ownership: Ownership) -> None:
        """What an engine had held that got no further with the group.

        Its rows stay until the rows of this attempt replace them.
        """
        record = ownership.record
        if record.engine is not None:
            members = self._table.members(record.uuid)
            # The rows were read before this check of the ownership, so no
            # later owner wrote them.
            ownership.change()
            self._drop(record, members)

    def _drop(self, record: GroupRecord,
              members: Sequence[MemberRecord]) -> None:
        self._holds.drop([m.hold for m in members if m.held],
                         record.project_id, record.user_id)

    def _decide(self, ownership: Ownership, group: Group,
                lease: int | None) -> None:
        """Plan on fresh snapshots until Placement takes the plan."""
        refusal = None
        record = ownership.record
        question = Question(
            group, record.objective, record.uuid,
            refused=refused_hosts.read(
                self._conf, self._table, record.uuid, self._clock()),
            project_id=record.project_id)
        for _ in range(self._conf.planner.attempts):
            decision = self._decider.decide(question)
            members = member_rows.planned_members(
                record.uuid, decision.group, decision.snapshot,
                decision.plan, decision.alternates(), self._clock())
            ownership.change(levels=decision.snapshot.levels,
                             exclusive=decision.exclusive)
            ownership.write_members(members)
            refusal = self._refusal(record, question, decision, members)
            if refusal is None:
                self._accept(ownership, members, lease)
                return
            LOG.info('Group %s is planned anew: %s', record.uuid, refusal)
        raise NotPlanned(GroupStatus.ERROR, [reasons.with_detail(
            f'what was planned went away {self._conf.planner.attempts} times '
            f'while planning', refusal)])

    def _accept(self, ownership: Ownership, members: Sequence[MemberRecord],
                lease: int | None) -> None:
        try:
            ownership.finish(status=GroupStatus.PLANNED, reasons=(),
                             lease_expires_at=self._lease(lease))
        except errors.OwnershipLost:
            self._drop(ownership.record, members)
            raise

    def _refusal(self, record: GroupRecord, question: Question,
                 decision: Decision, members: Sequence[MemberRecord],
                 ) -> str | None:
        """Why the members cannot be held as planned; None where they are."""
        try:
            self._holds.put(members, record.project_id, record.user_id)
        except hold_errors.CapacityGone as error:
            return str(error)
        objections = self._decider.objections(
            question, decision, [m.place.host for m in members])
        if not objections:
            return None
        self._drop(record, members)
        return objections[0].message

    def _lease(self, seconds: int | None) -> datetime | None:
        if seconds is None:
            seconds = self._conf.planner.lease
        return self._clock() + timedelta(seconds=seconds) if seconds else None
