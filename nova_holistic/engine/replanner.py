# SPDX-License-Identifier: Apache-2.0
"""Finds new places for lost members."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
import time
from typing import TypeVar

from oslo_log import log as logging

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.decider import (
    Decider, Decision, NotPlanned, Question)
from nova_holistic.engine import member_rows
from nova_holistic.engine import partial_replan
from nova_holistic.engine.partial_replan import Decide, Partial, PartialPlanner
from nova_holistic.engine import reasons
from nova_holistic.engine import refused_hosts
from nova_holistic.engine.unneeded_holds import GONE
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.messaging import errors
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable, SITTING

LOG = logging.getLogger(__name__)

Answer = TypeVar('Answer')


class Replanner:
    """A lost member is planned again where its group's policies allow, all
    other members staying where they are; or it stays lost.

    Members whose hosts have returned after an outage get their former places
    back first. The others are planned jointly. If not all of them can be
    placed, then as many as possible, in the order of the document.

    It can be claimed once its new hold is there, and not before. Until then
    its row is lost and held: so a crash leaves no hold that the reconciler
    cannot find.
    """

    def __init__(self, conf, decider: Decider, table: PlacementTable,
                 holds: HoldClient, policy_types: PolicyTypes,
                 clock: Callable[[], datetime],
                 timer: Callable[[], float] = time.perf_counter):
        """
        :param clock: gives naive UTC
        :param timer: gives seconds, to measure durations
        """
        self._conf = conf
        self._decider = decider
        self._table = table
        self._holds = holds
        self._policy_types = policy_types
        self._clock = clock
        self._timer = timer

    def replan(self, group_uuid: str) -> GroupRecord:
        """See ``Planner.replan``."""
        record = self._table.get_group(group_uuid)
        if record is None:
            raise table_errors.GroupUnknown(group_uuid)
        if record.status == GroupStatus.PLANNING:
            raise errors.GroupBusy(f'group {group_uuid} is being planned')
        if record.status in CLAIMABLE:
            self._table.update_group(
                record.uuid, CLAIMABLE, updated_at=self._clock(),
                reasons=self.reasons(record))
            self._table.settle(record.uuid, self._clock())
        return self._table.get_group(group_uuid) or record

    def restore(self, group_uuid: str) -> bool:
        """See ``Planner.restore``."""
        record = self._table.get_group(group_uuid)
        if record is None or record.status not in CLAIMABLE:
            return False
        try:
            restored = self._until_held(
                record, lambda: self._restore_places(record))
        except NotPlanned as end:
            LOG.info('Lost members of group %s do not get their former places '
                     'back: %s', group_uuid, end)
            return False
        if restored and not _lost(self._table.members(group_uuid)):
            self._table.update_group(
                group_uuid, CLAIMABLE, updated_at=self._clock(), reasons=())
        return restored

    def reasons(self, record: GroupRecord) -> Sequence[Mapping[str, str]]:
        """Plan lost members of a group in which members can be claimed.

        :returns: why members stay lost, as the table tells it; nothing where
            all have places
        """
        found: Sequence[Reason] = ()
        try:
            found = self._replan(record)
        except NotPlanned as end:
            found = end.reasons
        except exceptions.InvalidDocument as error:
            found = [reasons.of_error(error)]
        return [r.to_row() for r in found]

    def _replan(self, record: GroupRecord) -> Sequence[Reason]:
        """
        :returns: why some members stay lost
        """
        def places() -> Sequence[Reason]:
            self._restore_places(record)
            return self._find_places(record)

        return self._until_held(record, places)

    def _until_held(self, record: GroupRecord,
                    plan: Callable[[], Answer]) -> Answer:
        """Plan on fresh snapshots until Placement takes the plan."""
        refusal: Exception | None = None
        for _ in range(self._conf.planner.attempts):
            try:
                return plan()
            except (hold_errors.CapacityGone, _Overtaken) as error:
                LOG.info('Lost members of group %s are planned anew: %s',
                         record.uuid, error)
                refusal = error
        raise NotPlanned(GroupStatus.ERROR, [reasons.with_detail(
            f'what was planned for lost members went away '
            f'{self._conf.planner.attempts} times', refusal)])

    def _restore_places(self, record: GroupRecord) -> bool:
        """Give members their former places back, if their hosts have returned
        after an outage, and if policies and capacity still allow it.

        :returns: whether any member got its place back
        """
        hosts = self._table.outages.returned()
        if not hosts:
            return False
        members = self._table.members(record.uuid)
        returning = [m for m in _lost(members) if m.place.host in hosts]
        if not returning:
            return False
        question = self._question(record, members, returning)
        usable = self._decider.usable(question)
        places = {**question.placed,
                  **{m.member.path: m.place.host for m in returning}}

        def confirm(part: Question, seconds: float) -> Decision:
            return self._decider.confirm(
                part, {m.path: places[m.path]
                       for m in part.group.all_members()}, usable)

        found = self._most(question, confirm, {
            path: (kind, places[path]) for path, kind in partial_replan.kinds(
                question.group, places.keys() - question.placed).items()})
        self._put(record, found, returning)
        return found.decision is not None

    def _find_places(self, record: GroupRecord) -> Sequence[Reason]:
        """Plan lost members wherever there is room.

        :returns: why some members stay lost
        """
        members = self._table.members(record.uuid)
        lost = _lost(members)
        if not lost:
            return ()
        question = self._question(record, members, lost)
        usable = self._decider.usable(question)

        def decide(part: Question, seconds: float) -> Decision:
            return self._decider.decide(
                part, usable=usable, time_limit=seconds)

        found = self._most(question, decide, partial_replan.kinds(
            question.group, [m.member.path for m in lost]))
        self._put(record, found, lost)
        return found.reasons

    def _most(self, question: Question, decide: Decide,
              kinds: Mapping[str, Hashable]) -> Partial:
        """All lost members, or as many as possible."""
        limit = self._conf.planner.time_limit
        try:
            return Partial(question, decide(question, limit),
                           frozenset(kinds), ())
        except NotPlanned as end:
            refusal = end.reasons
        deadline = self._timer() + limit
        return PartialPlanner(
            question, decide, kinds,
            lambda: deadline - self._timer()).plan(refusal)

    def _put(self, record: GroupRecord, found: Partial,
             lost: Sequence[MemberRecord]) -> None:
        """Hold the places that were found, and let members be claimed there.

        :raises CapacityGone: there is no room any more
        """
        decision = found.decision
        if decision is None:
            return
        anew = member_rows.renewed_members(
            [m for m in lost if m.member.path in found.accepted],
            decision.group, decision.snapshot, decision.plan,
            decision.alternates(), self._clock())
        if not self._table.offer_places(anew):
            raise _Overtaken('they changed meanwhile')
        holds = [m.hold for m in anew]
        try:
            self._holds.put(anew, record.project_id, record.user_id)
        except hold_errors.CapacityGone:
            self._table.forget_holds(holds)
            raise
        objections = self._decider.objections(
            found.question, decision, [m.place.host for m in anew])
        if not objections:
            self._table.accept_places(holds, self._clock())
        self._drop_unwanted(record, anew)
        if objections:
            raise _Overtaken(objections[0].message)

    def _question(self, record: GroupRecord, members: Sequence[MemberRecord],
                  lost: Sequence[MemberRecord]) -> Question:
        """Members that are released, or failed, are none of the group's."""
        placed = {m.member.path: m.place.host for m in members
                  if m.state in SITTING}
        # A server that failed on its host is still there.
        guests = [m.place.host for m in members
                  if m.state == MemberState.FAILED and m.instance_uuid]
        group = parse_group(record.document, self._policy_types)
        return Question(
            group.only({*placed, *(m.member.path for m in lost)}),
            record.objective, record.uuid, placed, guests, remembered=[
                member_rows.host_of(m.place) for m in members
                if m.state in SITTING],
            refused=refused_hosts.read(
                self._conf, self._table, record.uuid, self._clock()),
            project_id=record.project_id)

    def _drop_unwanted(self, record: GroupRecord,
                       anew: Sequence[MemberRecord]) -> None:
        """Holds just put of members that were released or deleted meanwhile,
        or that cannot stay where they are."""
        now = {m.id: m for m in self._table.members(record.uuid)}
        unwanted = [m.hold for m in anew if m.id not in now
                    or now[m.id].hold != m.hold or now[m.id].state in GONE]
        self._holds.drop(unwanted, record.project_id, record.user_id)
        self._table.forget_holds(unwanted)


def _lost(members: Sequence[MemberRecord]) -> Sequence[MemberRecord]:
    """Lost members that nobody else is planning anew."""
    return [m for m in members
            if m.state == MemberState.LOST and not m.held]


class _Overtaken(exceptions.HolisticError):
    """The cloud or the group changed while the plan was made."""
