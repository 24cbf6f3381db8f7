# SPDX-License-Identifier: Apache-2.0
"""Plans groups and holds their places."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
import time
from typing import Any
import uuid as uuidlib

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions, objectives, policies
from nova_holistic.documents.groups.adoption import must_not_adopt
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups.volumes import must_have_servers
from nova_holistic.engine.alternates_finder import AlternatesFinder
from nova_holistic.engine.binding.adoption import ReadServers
from nova_holistic.engine.creator import Creator
from nova_holistic.engine.decision.plan_analysis import PlanAnalyser
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.decision import unused_groups
from nova_holistic.engine import plan_answers
from nova_holistic.engine.plan_answers import PlanAnswer
from nova_holistic.engine.proposal import PlannerComponents
from nova_holistic.engine import reasons
from nova_holistic.engine.replan.replanner import Replanner
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.engine.tasks.task_runner import (
    Act, CheckStatus, TaskRunner, Work)
from nova_holistic.engine.update.updater import Updater
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.inventory.statistics_inventory import StatisticsInventory
from nova_holistic.messaging import errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, PlanRecord, Task)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class Planner:
    """Plans groups. In all cases, including errors, either all places of a
    group are held or none.

    ``create`` and ``replan`` return when the group is planned. ``perform``
    carries out the task of a group for an engine.
    """

    def __init__(self, conf, inventory: CloudInventory,
                 table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime],
                 timer: Callable[[], float] = time.perf_counter):
        """
        :param clock: returns naive UTC
        :param timer: returns seconds, to measure durations
        """
        self._conf = conf
        self._table = table
        self._clock = clock
        self._policy_types = policies.load_policy_types()
        measured = StatisticsInventory(
            inventory, table.statistics.since, clock,
            timedelta(seconds=conf.engine.statistics_max_age))
        self._snapshot_planner = SnapshotPlanner(
            conf, measured, table, self._policy_types, timer)
        self._adviser = PlanAnalyser(conf, self._snapshot_planner, timer)
        parts = PlannerComponents(
            conf, self._snapshot_planner, table, holds, self._policy_types,
            clock)
        self._alternates = AlternatesFinder(parts)
        self._creator = Creator(parts)
        self._replanner = Replanner(parts, timer)
        self._updater = Updater(parts)
        self._task_runner = TaskRunner(
            self._creator, self._replanner, self._updater, table,
            self._policy_types, clock)
        self._refresh: Callable[[str], object] = lambda group_uuid: None

    def connect(self, refresh: Callable[[str], object],
                servers: ReadServers | None = None, *,
                act: Act | None = None,
                check_status: CheckStatus | None = None,
                **tasks: Work) -> None:
        """Add the components that need Nova.

        :param refresh: reads the hosts of the servers of a group before the
            group is updated or its lost members are planned
        :param servers: reads servers that a group adopts
        :param act: carries out the actions that servers require after an
            update
        :param check_status: checks a degraded group after an update
        :param tasks: functions for additional tasks, by the name of a ``Task``
        """
        self._refresh = refresh
        self._updater.read_servers = servers
        self._task_runner.act = act
        self._task_runner.check_status = check_status
        self._task_runner.add(tasks)

    def plan(self, document: Any, *, objective: str | None = None,
             project_id: str | None = None) -> Plan | Unplaceable | Unknown:
        """The plan that ``create`` would make now. Nothing is held or written.

        :param objective: name of the objective; None means the configured one
        :param project_id: project of the servers; None means any
        :raises InvalidDocument: the document cannot be accepted
        :raises UnreadableReference: an image or a server group cannot be read
        :raises UnknownPlugin: no such objective is installed
        """
        return self._snapshot_planner.answer(
            self._planning_request(document, objective, project_id))

    def create(self, document: Any, *, project_id: str, user_id: str,
               objective: str | None = None, lease: int | None = None,
               uuid: str | None = None) -> GroupRecord:
        """Plan a group and hold its places.

        The status of the returned record is ``planned``, ``unplaceable`` or
        ``error``, with reasons. A second call with the same UUID returns the
        same group and plans nothing.

        :param objective: name of the objective; None means the configured one
        :param lease: lease in seconds; 0 means no lease, None means the
            configured lease
        :param uuid: UUID of the new group; None means a random UUID
        :raises InvalidDocument: the document cannot be accepted
        :raises UnknownPlugin: no such objective is installed
        :raises GroupExists: another group has the UUID
        :raises TableError: the table does not respond
        """
        must_not_adopt(document, 'only the API adopts servers')
        group = parse_group(document, self._policy_types)
        must_have_servers(group)
        record = self._record(group, document, project_id, user_id,
                              self._objective(objective), uuid)
        try:
            self._table.create_group(record)
        except Duplicate:
            return self._existing_group(record)
        crash_points.reached('group.created')
        try:
            self._creator.plan(
                Ownership(self._table, record, self._clock), group, lease)
        except exceptions.InvalidDocument:
            # No other process knows the group yet, so it is removed.
            self._table.delete_group(record.uuid)
            raise
        crash_points.reached('create.planned')
        self._find_alternates_now(record.uuid)
        found = self._table.get_group(record.uuid)
        if found is None:
            raise table_errors.GroupUnknown(record.uuid)
        return found

    def replan(self, group_uuid: str) -> GroupRecord:
        """Plan lost members of a group again, and hold their new places.

        Members that are planned, claimed or built stay at their places, and
        so do failed members with a server. Released members are left out. Lost
        members that cannot be placed stay lost, and the record has the
        reasons.

        :raises GroupUnknown: no such group exists
        :raises GroupBusy: the group is being planned
        :raises HoldsError: Placement does not respond
        """
        self._refresh(group_uuid)
        return self._replanner.replan(group_uuid)

    def restore(self, group_uuid: str) -> bool:
        """Hold the previous places of lost members again, if their hosts have
        returned after an outage, and if policies and capacity allow it.

        :returns: whether any member is held again
        :raises HoldsError: Placement does not respond
        :raises InvalidDocument: the document is no longer accepted
        """
        return self._replanner.restore(group_uuid)

    def perform(self, record: GroupRecord) -> None:
        """Carry out the task of a group, and write the result in the table.

        :param record: as ``table.tasks.take`` returned it to the engine
        :raises TableError: the table does not respond; the task remains
        :raises OwnershipLost: another engine has the task; all changes are
            undone
        :raises HoldsNotDropped: Placement does not respond; the task remains
        """
        if record.task in (Task.UPDATING, Task.REPLANNING):
            self._refresh(record.uuid)
        self._task_runner.perform(record)

    def find_alternates(self, group_uuid: str, engine: str) -> None:
        """Find and write alternates for planned members without alternates.

        :param engine: UUID of the engine that has taken the group in
            ``table.due_alternates``
        :raises OwnershipLost: another engine has this work, it was requested
            again, or the group no longer exists
        :raises OutdatedPlan: members got other places during each attempt; the
            alternates are still due
        :raises TableError: the table does not respond; the alternates are
            still due
        """
        self._alternates.find(group_uuid, engine)

    def answer(self, record: PlanRecord,
               why_not: str | None = None) -> PlanAnswer:
        """Carry out a dry run.

        :param why_not: the reason why the dry run is given up without an
            attempt
        :raises TableError: the table does not respond; the dry run remains
        """
        if why_not is not None:
            return plan_answers.failed_answer([reasons.of_engine(why_not)])
        return plan_answers.answer_request(lambda: self._adviser.analyse(
            self._planning_request(record.document, record.objective,
                                   record.project_id), record.extras), record)

    def give_up(self, record: GroupRecord, why: str) -> None:
        """End an engine's task without carrying it out.

        :raises TableError: the table does not respond; the task remains
        :raises OwnershipLost: another engine has the task
        """
        self._task_runner.give_up(record, [reasons.of_engine(why)])

    def _find_alternates_now(self, group_uuid: str) -> None:
        """Find alternates before the caller gets its result. If this fails, an
        engine finds them later."""
        due, now = self._table.due_alternates, self._clock()
        engine = f'caller:{uuidlib.uuid4()}'
        try:
            if due.take(group_uuid, engine, now, now - timedelta(
                    seconds=self._conf.engine.stale_after)):
                crash_points.reached('create.alternates-taken')
                self.find_alternates(group_uuid, engine)
        except exceptions.HolisticError as error:
            LOG.warning('Members of group %s have no alternates yet: %s',
                        group_uuid, error)

    def _planning_request(self, document: Any, objective: str | None,
                          project_id: str | None) -> PlanningRequest:
        """The request for a dry run.

        :raises InvalidDocument: a create would not accept the document
        :raises UnknownPlugin: no such objective is installed
        """
        must_not_adopt(document)
        group = parse_group(document, self._policy_types)
        objective = self._objective(objective)
        unused_groups.must_be_known(self._snapshot_planner, group)
        return PlanningRequest(group, objective, project_id=project_id)

    def _objective(self, name: str | None) -> str:
        """The name of an installed objective.

        :param name: None means the configured objective
        :raises UnknownPlugin: no such objective is installed
        """
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

    def _existing_group(self, record: GroupRecord) -> GroupRecord:
        """The group that already has the UUID of the record.

        :raises GroupExists: it differs, for example in definition or project
        """
        found = self._table.get_group(record.uuid)
        if found is not None and replace(
                record, user_id=found.user_id, status=found.status,
                levels=found.levels, reasons=found.reasons,
                exclusive=found.exclusive,
                holds_written=found.holds_written,
                objective_value=found.objective_value,
                lease_expires_at=found.lease_expires_at,
                created_at=found.created_at,
                updated_at=found.updated_at) == found:
            return found
        raise errors.GroupExists(
            f'another group has UUID {record.uuid}')
