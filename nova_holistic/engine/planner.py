# SPDX-License-Identifier: Apache-2.0
"""From a group document to a plan that is held."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
import time
from typing import Any
import uuid as uuidlib

from oslo_log import log as logging

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.deciding import (
    Decider, Decision, NotPlanned, Question)
from nova_holistic.engine import errors, rows
from nova_holistic.engine.freeing import GONE
from nova_holistic.engine.replanner import Replanner
from nova_holistic import exceptions, objectives, policies
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Reason, Unknown, Unplaceable
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Reasons = Sequence[Reason]


class Planner:
    """A group is held whole or not at all, whatever goes wrong on the way.

    What is about to be held is in the table first, so that a crash leaves
    nothing that the reconciler cannot find.
    """

    def __init__(self, conf, inventory: InventoryDriver,
                 table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime],
                 timer: Callable[[], float] = time.perf_counter):
        """
        :param clock: gives naive UTC
        :param timer: gives seconds since whenever, to tell durations by
        """
        self._conf = conf
        self._table = table
        self._holds = holds
        self._clock = clock
        self._policy_types = policies.load_policy_types()
        self._decider = Decider(
            conf, inventory, table, self._policy_types, timer)
        self._replanner = Replanner(
            conf, self._decider, table, holds, self._policy_types, clock)

    def plan(self, document: Any, *, objective: str | None = None,
             ) -> Plan | Unplaceable | Unknown:
        """What ``create`` would decide now; nothing is held or written.

        :raises InvalidDocument: the document cannot be accepted
        """
        group = parse_group(document, self._policy_types)
        return self._decider.answer(
            Question(group, self._objective(objective)))

    def create(self, document: Any, *, project_id: str, user_id: str,
               objective: str | None = None, lease: int | None = None,
               uuid: str | None = None) -> GroupRecord:
        """Plan a group and hold its places.

        The record tells how it went: ``planned``, ``unplaceable`` or
        ``error``, with reasons. Asked again with the same UUID, it gives the
        same group and plans nothing.

        :param lease: seconds; 0 is none, None what is configured
        :raises InvalidDocument: the document cannot be accepted
        :raises GroupExists: the UUID is another group's
        :raises TableError: the table does not answer
        """
        group = parse_group(document, self._policy_types)
        record = self._record(group, document, project_id, user_id,
                              self._objective(objective), uuid)
        try:
            self._table.create_group(record)
        except Duplicate:
            return self._the_same(record)
        self._decide_or_give_up(record, group, lease)
        found = self._table.get_group(record.uuid)
        if found is None:
            raise table_errors.GroupUnknown(record.uuid)
        return found

    def replan(self, group_uuid: str) -> GroupRecord:
        """Plan lost members of a group anew, and hold their new places.

        Members that are planned, claimed or built stay where the table has
        them; those that failed or were released are left out. Where a lost
        member cannot be placed all stay lost, and the record's reasons say
        why.

        :raises GroupUnknown: there is no such group
        :raises GroupBusy: it is being planned
        :raises HoldsError: Placement does not answer
        """
        return self._replanner.replan(group_uuid)

    def _decide_or_give_up(self, record: GroupRecord, group: Group,
                           lease: int | None) -> None:
        """Whatever happens, the group does not stay in planning."""
        try:
            self._decide(record, group, lease)
        except exceptions.InvalidDocument:
            # The cloud has no such flavor or level. Nothing is held yet, or
            # any more.
            self._table.delete_group(record.uuid)
            raise
        except NotPlanned as end:
            self._give_up(record, end.status, end.reasons)
        except exceptions.HolisticError as error:
            self._give_up(record, GroupStatus.ERROR, [Reason('', str(error))])
            if isinstance(error, table_errors.TableError):
                raise
        except BaseException as error:
            self._give_up(record, GroupStatus.ERROR, [
                Reason('', f'planning broke off: {error!r}')])
            raise

    def _objective(self, name: str | None) -> str:
        """:raises UnknownPlugin: there is no objective of that name"""
        name = name or self._conf.planner.objective
        objectives.load_objective(name)
        return name

    def _record(self, group: Group, document: Any, project_id: str,
                user_id: str, objective: str,
                uuid: str | None) -> GroupRecord:
        now = self._clock()
        return GroupRecord(
            uuid=uuid or str(uuidlib.uuid4()), name=group.name,
            project_id=project_id, user_id=user_id,
            status=GroupStatus.PLANNING, document=document,
            objective=objective, created_at=now, updated_at=now)

    def _the_same(self, record: GroupRecord) -> GroupRecord:
        """The group that has the record's UUID already."""
        found = self._table.get_group(record.uuid)
        if found is not None and replace(
                record, user_id=found.user_id, status=found.status,
                levels=found.levels, reasons=found.reasons,
                exclusive=found.exclusive,
                lease_expires_at=found.lease_expires_at,
                created_at=found.created_at,
                updated_at=found.updated_at) == found:
            return found
        raise errors.GroupExists(
            f'UUID {record.uuid} is that of another group')

    def _decide(self, record: GroupRecord, group: Group,
                lease: int | None) -> None:
        """Plan on fresh snapshots until Placement takes the plan."""
        refusal = None
        question = Question(group, record.objective, record.uuid)
        for _ in range(self._conf.planner.attempts):
            decision = self._decider.decide(question)
            members = rows.planned_members(
                record.uuid, decision.group, decision.snapshot,
                decision.plan, decision.alternates, self._clock())
            self._still_planning(record, levels=decision.snapshot.levels,
                                 exclusive=decision.exclusive)
            self._table.write_members(record.uuid, members)
            refusal = self._refusal(record, question, decision, members)
            if refusal is not None:
                LOG.info('Group %s is planned anew: %s', record.uuid, refusal)
                continue
            self._still_planning(record, status=GroupStatus.PLANNED,
                                 lease_expires_at=self._lease(lease))
            return
        raise NotPlanned(GroupStatus.ERROR, [Reason(
            '', f'what was planned went away {self._conf.planner.attempts} '
            f'times while planning; at last, {refusal}')])

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
        self._holds.drop([m.hold for m in members],
                         record.project_id, record.user_id)
        return objections[0].message

    def _lease(self, seconds: int | None) -> datetime | None:
        if seconds is None:
            seconds = self._conf.planner.lease
        return self._clock() + timedelta(seconds=seconds) if seconds else None

    def _still_planning(self, record: GroupRecord, **changes: Any) -> None:
        if not self._table.update_group(
                record.uuid, [GroupStatus.PLANNING],
                updated_at=self._clock(), **changes):
            raise NotPlanned(GroupStatus.ERROR, [Reason(
                '', 'planning took too long and was given up meanwhile')])

    def _give_up(self, record: GroupRecord, status: GroupStatus,
                 reasons: Reasons) -> None:
        """Nothing stays held; what cannot be freed now the reconciler will.

        A put without an answer may have been carried out, so every hold
        written is dropped.
        """
        try:
            members = self._table.members(record.uuid)
            self._table.release([m.id for m in members], self._clock())
            self._table.update_group(
                record.uuid, [GroupStatus.PLANNING], status=status,
                reasons=[{'at': r.at, 'message': r.message} for r in reasons],
                updated_at=self._clock())
            # Whether or not a reconciler, that took this planner for dead,
            # saw to them before the put came through.
            unwanted = [m.hold for m in self._table.members(record.uuid)
                        if m.state in GONE]
            self._holds.drop(unwanted, record.project_id, record.user_id)
            self._table.forget_holds(unwanted)
        except exceptions.HolisticError:
            LOG.exception('Group %s is left to the reconciler', record.uuid)
