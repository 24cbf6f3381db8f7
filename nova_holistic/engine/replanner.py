# SPDX-License-Identifier: Apache-2.0
"""Members that lost their places get others."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from oslo_log import log as logging

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.deciding import Decider, NotPlanned, Question
from nova_holistic.engine import errors, rows
from nova_holistic.engine.freeing import GONE
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable, SITTING

LOG = logging.getLogger(__name__)


class Replanner:
    """A lost member is planned again where its group's policies allow, all
    other members staying where they are; or it stays lost.

    It can be claimed once its new hold is there, and not before. Until then
    its row is lost and held: so a crash leaves no hold that the reconciler
    cannot find.
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

    def reasons(self, record: GroupRecord) -> Sequence[Mapping[str, str]]:
        """Plan lost members of a group in which members can be claimed.

        :returns: why members stay lost, as the table tells it; nothing where
            all have places
        """
        reasons: Sequence[Reason] = ()
        try:
            self._replan(record)
        except NotPlanned as end:
            reasons = end.reasons
        except exceptions.InvalidDocument as error:
            reasons = [Reason(error.place, error.message)]
        return [r.to_row() for r in reasons]

    def _replan(self, record: GroupRecord) -> None:
        """Plan on fresh snapshots until Placement takes the plan."""
        refusal: Exception | None = None
        for _ in range(self._conf.planner.attempts):
            members = self._table.members(record.uuid)
            lost = [m for m in members
                    if m.state == MemberState.LOST and not m.held]
            if not lost:
                return
            try:
                self._attempt(record, members, lost)
                return
            except (hold_errors.CapacityGone, _Overtaken) as error:
                LOG.info('Lost members of group %s are planned anew: %s',
                         record.uuid, error)
                refusal = error
        raise NotPlanned(GroupStatus.ERROR, [Reason(
            '', f'what was planned for lost members went away '
            f'{self._conf.planner.attempts} times; at last, {refusal}')])

    def _attempt(self, record: GroupRecord, members: Sequence[MemberRecord],
                 lost: Sequence[MemberRecord]) -> None:
        question = self._question(record, members, lost)
        decision = self._decider.decide(question)
        anew = rows.renewed_members(
            lost, decision.group, decision.snapshot, decision.plan,
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
            question, decision, [m.place.host for m in anew])
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
            record.objective, record.uuid, placed, guests)

    def _drop_unwanted(self, record: GroupRecord,
                       anew: Sequence[MemberRecord]) -> None:
        """Holds just put of members that were released or deleted meanwhile,
        or that cannot stay where they are."""
        now = {m.id: m for m in self._table.members(record.uuid)}
        unwanted = [m.hold for m in anew if m.id not in now
                    or now[m.id].hold != m.hold or now[m.id].state in GONE]
        self._holds.drop(unwanted, record.project_id, record.user_id)
        self._table.forget_holds(unwanted)


class _Overtaken(exceptions.HolisticError):
    """The cloud or the group changed while the plan was made."""
