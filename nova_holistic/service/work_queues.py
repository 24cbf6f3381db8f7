# SPDX-License-Identifier: Apache-2.0
"""Queues of work in the table: the tasks of groups, plans to make, and groups
that need alternates."""

import abc
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.planner import Planner
from nova_holistic.engine import reasons
from nova_holistic.messaging.context import RequestContext
from nova_holistic.table.coordination import delayed_work
from nova_holistic.table.coordination.due_alternates import DueGroup
from nova_holistic.table.records import GroupRecord, PlanRecord
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Record = GroupRecord | PlanRecord | DueGroup


class WorkQueue(abc.ABC):
    """One kind of work, as one engine sees it.

    All methods raise TableError if the table does not answer.

    :ivar at_once: maximum number of waiting records that an engine begins when
        it polls the table; None means its number of workers
    :ivar followed_by: names of the queues to which this work adds records
        without a message
    """

    at_once: int | None = None
    followed_by: frozenset[str] = frozenset()

    def __init__(self, conf, table: PlacementTable, planner: Planner,
                 engine: str, clock: Callable[[], datetime]):
        """
        :param engine: the unique id of the engine
        :param clock: returns naive UTC
        """
        self._conf = conf
        self._table = table
        self._planner = planner
        self._engine = engine
        self._clock = clock

    @abc.abstractmethod
    def waiting(self, limit: int) -> Sequence[str]:
        """UUIDs of the records that no live engine works on."""

    @abc.abstractmethod
    def take(self, uuid: str) -> Record | None:
        """The record, if it now belongs to this engine; otherwise None."""

    @abc.abstractmethod
    def write_heartbeat(self, uuids: Collection[str]) -> None:
        """Write a heartbeat: this engine works on them."""

    @abc.abstractmethod
    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        """Let other engines do the work.

        :param uuid: None means all records that this engine has taken
        :param counted: whether this attempt counts towards the limit of
            attempts, because an error of the engine has ended it
        """

    @abc.abstractmethod
    def context(self, record: Record) -> RequestContext:
        """The request and the user of the record."""

    @abc.abstractmethod
    def do(self, record: Record) -> None:
        """
        :raises OwnershipLost: the record belongs to another engine
        """

    def note_failure(self, record: Record, error: Exception) -> None:
        """Write that the work has failed, and that it is repeated. A dry run
        has no group for this."""

    def _stale(self) -> datetime:
        return self._clock() - timedelta(seconds=self._conf.engine.stale_after)

    def _too_often(self, record: Record) -> str | None:
        """The reason why the work is not tried again."""
        limit = self._conf.engine.attempts
        if record.attempts <= limit:
            return None
        return (f'in {limit} attempts, the engine stopped or an unexpected '
                f'error occurred')


class GroupQueue(WorkQueue):
    """Groups that are waiting for a plan, an update or a new plan of lost
    members."""

    followed_by = frozenset({'alternates'})

    def waiting(self, limit: int) -> Sequence[str]:
        return self._table.tasks.waiting(self._stale(), limit)

    def take(self, uuid: str) -> GroupRecord | None:
        record = self._table.tasks.take(
            uuid, self._engine, self._clock(), self._stale())
        crash_points.reached('task.taken')
        return record

    def write_heartbeat(self, uuids: Collection[str]) -> None:
        self._table.tasks.write_heartbeat(uuids, self._engine, self._clock())

    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        self._table.tasks.return_work(self._engine, uuid, counted)

    def context(self, record: GroupRecord) -> RequestContext:
        return RequestContext.from_document({
            'project_id': record.project_id, 'user_id': record.user_id,
            **(record.pending or {})})

    def do(self, record: GroupRecord) -> None:
        why_not = self._too_often(record)
        if why_not is None:
            self._planner.perform(record)
        else:
            self._planner.give_up(record, why_not)
        LOG.info('Group %s of project %s: %s is done',
                 record.uuid, record.project_id, record.task)

    def note_failure(self, record: GroupRecord, error: Exception) -> None:
        delayed_work.note(
            self._table.database, record.uuid, reasons.of_repeated(
                f'the task {record.task} of the group', error),
            self._clock(), self._engine)


class PlanQueue(WorkQueue):
    """Requests for plans without holds."""

    def waiting(self, limit: int) -> Sequence[str]:
        return self._table.plans.waiting(self._stale(), limit)

    def take(self, uuid: str) -> PlanRecord | None:
        record = self._table.plans.take(
            uuid, self._engine, self._clock(), self._stale())
        crash_points.reached('task.plan-taken')
        return record

    def write_heartbeat(self, uuids: Collection[str]) -> None:
        self._table.plans.write_heartbeat(uuids, self._engine, self._clock())

    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        self._table.plans.return_work(self._engine, uuid, counted)

    def context(self, record: PlanRecord) -> RequestContext:
        return RequestContext(
            project_id=record.project_id, user_id=record.user_id)

    def do(self, record: PlanRecord) -> None:
        answer = self._planner.answer(record, self._too_often(record))
        self._table.plans.finish(
            record.uuid, self._engine, answer.status, answer.document,
            self._clock())
        LOG.info('Plan %s of project %s is %s', record.uuid,
                 record.project_id, answer.status)


class AlternatesQueue(WorkQueue):
    """Groups that are planned, and whose members need alternates.

    An engine begins one at a time, so that plans do not wait for it.
    """

    at_once = 1

    def waiting(self, limit: int) -> Sequence[str]:
        return self._table.due_alternates.waiting(
            self._clock(), self._stale(), limit)

    def take(self, uuid: str) -> DueGroup | None:
        due = self._table.due_alternates.take(
            uuid, self._engine, self._clock(), self._stale())
        crash_points.reached('task.alternates-taken')
        return due

    def write_heartbeat(self, uuids: Collection[str]) -> None:
        self._table.due_alternates.write_heartbeat(
            uuids, self._engine, self._clock())

    def return_work(self, uuid: str | None = None,
                    counted: bool = False) -> None:
        self._table.due_alternates.return_work(self._engine, uuid, counted)

    def context(self, record: DueGroup) -> RequestContext:
        return RequestContext(
            project_id=record.project_id, user_id=record.user_id)

    def do(self, record: DueGroup) -> None:
        why_not = self._too_often(record)
        if why_not is None:
            self._planner.find_alternates(record.uuid, self._engine)
        else:
            LOG.warning('Members of group %s get no alternates: %s',
                        record.uuid, why_not)
            self._table.due_alternates.give_up(
                record.uuid, self._engine, why_not, self._clock())

    def note_failure(self, record: DueGroup, error: Exception) -> None:
        delayed_work.note(
            self._table.database, record.uuid, reasons.of_repeated(
                'the search for alternates of members', error), self._clock())
