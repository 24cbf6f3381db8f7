# SPDX-License-Identifier: Apache-2.0
"""The engines of a parent: threads of the API's process, which work with the
credentials of the users."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent import futures
import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta
import os
import socket
from typing import Any, NoReturn
import uuid

import futurist
from futurist import rejection
from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.plan_answers import failed_answer
from nova_holistic.engine import reasons
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.errors import NotOffered
from nova_holistic.federation.group_changes import GroupChanges
from nova_holistic.federation.heartbeats import Heartbeats
from nova_holistic.federation.plan_maker import make_plan
from nova_holistic.federation.planners import Planners
from nova_holistic.federation.refresh import Refresh
from nova_holistic.federation.update.group_tasks import GroupTasks
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging.results import Released, ShownBinding
from nova_holistic.model.plan import Reason
from nova_holistic.table.coordination.plans import Plans
from nova_holistic.table.coordination.tasks import Tasks
from nova_holistic.table.records import (
    GroupRecord, PlanRecord, PlanStatus)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

HEARTBEATS = 4
"""Heartbeats per ``task_timeout``: three may be late or lost."""


@dataclass(frozen=True, slots=True)
class ParentOperations:
    """The operations of a parent on groups and plans.

    :ivar tasks: performs the tasks of groups in the background
    :ivar planners: make plans and place groups
    :ivar changes: change groups during the request
    :ivar refresh: compares groups with the children
    """

    tasks: GroupTasks
    planners: Planners
    changes: GroupChanges
    refresh: Refresh


class FederatedEngines:
    """Implements the protocol ``Engines`` of the API.

    If the queue is full, the work remains in the table. It begins when its
    user requests the group or the plan again.
    """

    def __init__(self, conf: Any, table: PlacementTable,
                 operations: ParentOperations, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        options = conf.federation
        self._table = table
        self._tasks = operations.tasks
        self._planners = operations.planners
        self._changes = operations.changes
        self._refresh = operations.refresh
        self._clock = clock
        self._seconds = options.placement_seconds
        self._timeout = timedelta(seconds=options.task_timeout)
        self._attempts = conf.engine.attempts
        self._name = (f'parent:{socket.gethostname()[:64]}:'
                      f'{uuid.uuid4().hex[:8]}')
        self._heartbeats = Heartbeats(
            table, self._owner, options.task_timeout / HEARTBEATS, clock)
        self._threads = futurist.ThreadPoolExecutor(
            options.threads, check_and_reject=rejection.reject_when_reached(
                options.max_queue))
        self._work: set[futures.Future[None]] = set()

    def plan_group(self, context: RequestContext, group_uuid: str) -> None:
        """Begin to place a group, unless another process does."""
        self._submit(self._place, context, group_uuid)

    def plan(self, context: RequestContext, plan_uuid: str) -> None:
        """Begin to make a plan, unless another process does."""
        self._submit(self._plan, context, plan_uuid)

    def refresh(self, context: RequestContext, record: GroupRecord) -> None:
        """Bring a group up to date before a user sees it: begin a task of this
        user that no process works on, or compare the group with the children.
        """
        if record.task is None:
            self._refresh.if_due(_user(context), record.uuid)
        elif _has_requested_task(context, record) and self._is_free(record):
            self.plan_group(context, record.uuid)

    def refresh_plan(self, context: RequestContext,
                     record: PlanRecord) -> None:
        """Begin to make a plan of this user that no process works on."""
        mine = _is_of(context, record.user_id, record.project_id)
        if mine and record.status == PlanStatus.PLANNING and (
                self._is_free(record)):
            self.plan(context, record.uuid)

    def release(self, context: RequestContext, group_uuid: str,
                members: Collection[str] | None = None,
                revision: int | None = None) -> Released:
        """See ``GroupChanges.release``."""
        return self._changes.release(
            _user(context), group_uuid, members, revision)

    def extend(self, context: RequestContext, group_uuid: str,
               seconds: int, revision: int | None = None) -> None:
        """See ``GroupChanges.extend``."""
        self._changes.extend(_user(context), group_uuid, seconds, revision)

    def delete(self, context: RequestContext, group_uuid: str,
               revision: int | None = None) -> None:
        """See ``GroupChanges.delete``."""
        self._changes.delete(_user(context), group_uuid, revision)

    def repair(self, context: RequestContext,
               group_uuid: str) -> Mapping[str, Any]:
        """See ``GroupChanges.propose_repair``."""
        return self._changes.propose_repair(_user(context), group_uuid)

    def detach(self, context: RequestContext, group_uuid: str,
               path: str, revision: int | None = None) -> None:
        """See ``GroupChanges.detach``."""
        self._changes.detach(_user(context), group_uuid, path, revision)

    def must_accept(self, parents: Sequence[str]) -> None:
        """See ``GroupChanges.must_accept``."""
        self._changes.must_accept(parents)

    def must_be_updatable(self, record: GroupRecord,
                          document: Mapping[str, Any]) -> None:
        """See ``GroupChanges.must_be_updatable``."""
        self._changes.must_be_updatable(record, document)

    def bind(self, context: RequestContext, group_uuid: str, path: str,
             server_group: str) -> ShownBinding:
        _refuse('bind')

    def bindings(self, context: RequestContext,
                 group_uuid: str) -> Sequence[ShownBinding]:
        _refuse('bindings')

    def update_resource_stats(self, context: RequestContext, name: str,
                              stats: Mapping[str, float]) -> None:
        _refuse('host statistics')

    def stop(self) -> None:
        """Wait for the work that has been submitted, and begin no other work.

        This method does not wait for idle threads, because they check only
        once per second whether they must end.
        """
        futures.wait(tuple(self._work))
        self._threads.shutdown(wait=False)

    def _submit(self, work: Callable[[RequestContext, str], None],
                context: RequestContext, record_uuid: str) -> None:
        try:
            submitted = self._threads.submit(
                self._logged, work, context, record_uuid)
        except futurist.RejectedSubmission:
            LOG.warning('The queue is full: %s is left in the table',
                        record_uuid)
            return
        self._work.add(submitted)
        submitted.add_done_callback(self._work.discard)

    def _logged(self, work: Callable[[RequestContext, str], None],
                context: RequestContext, record_uuid: str) -> None:
        with context.logged():
            try:
                work(context, record_uuid)
            except exceptions.HolisticError as error:
                LOG.warning('%s is left in the table: %s', record_uuid, error)
            except Exception:
                LOG.exception('%s is left in the table', record_uuid)

    def _place(self, context: RequestContext, group_uuid: str) -> None:
        now = self._clock()
        record = self._table.tasks.take(
            group_uuid, self._owner(), now, now - self._timeout)
        if record is None:
            return
        if not _has_requested_task(context, record):
            # The task for which this work was submitted has ended since.
            self._table.tasks.return_work(self._owner(), group_uuid)
            return
        crash_points.reached('federation.task-taken')
        with (self._returned_after_error(self._table.tasks, group_uuid),
              self._heartbeats.during('group', group_uuid)):
            why_not = self._too_often(record)
            if why_not is None:
                self._tasks.perform(record, _user(context))
            else:
                self._tasks.give_up(record, [why_not])

    def _plan(self, context: RequestContext, plan_uuid: str) -> None:
        now = self._clock()
        record = self._table.plans.take(
            plan_uuid, self._owner(), now, now - self._timeout)
        if record is None:
            return
        with (self._returned_after_error(self._table.plans, plan_uuid),
              self._heartbeats.during('plan', plan_uuid)):
            why_not = self._too_often(record)
            answer = make_plan(
                self._planners, record, _user(context), self._seconds
            ) if why_not is None else failed_answer([why_not])
            self._table.plans.finish(
                plan_uuid, self._owner(), answer.status, answer.document,
                self._clock())

    @contextlib.contextmanager
    def _returned_after_error(self, work: Tasks | Plans,
                              record_uuid: str) -> Iterator[None]:
        """The context of work that the next request of its user may begin
        again after an error. Each attempt counts, because the same error may
        occur each time."""
        try:
            yield
        except Exception:
            work.return_work(self._owner(), record_uuid, counted=True)
            raise

    def _too_often(self, record: GroupRecord | PlanRecord) -> Reason | None:
        """The reason why the work is not tried again; None: it is tried."""
        if record.attempts <= self._attempts:
            return None
        return reasons.of_engine(
            f'in {self._attempts} attempts, the process of the parent stopped '
            'or an error occurred')

    def _owner(self) -> str:
        """The name of this process, which may have forked since the start."""
        return f'{self._name}:{os.getpid()}'

    def _is_free(self, record: GroupRecord | PlanRecord) -> bool:
        """Whether no living process works on it."""
        return record.engine is None or (
            record.engine_at is not None
            and record.engine_at < self._clock() - self._timeout)


def _user(context: RequestContext) -> User:
    return User(context.user_id or '', context.project_id or '',
                context.auth, context.parents)


def _has_requested_task(context: RequestContext, record: GroupRecord) -> bool:
    """Whether the user has requested the task of the group. Other users may
    see the group, but their credentials must not perform the task."""
    pending = record.pending or {}
    # A task that does not name its user belongs to the owner of the group.
    return _is_of(context, pending.get('user_id', record.user_id),
                  pending.get('project_id', record.project_id))


def _is_of(context: RequestContext, user_id: str | None,
           project_id: str | None) -> bool:
    return (context.user_id, context.project_id) == (user_id, project_id)


def _refuse(operation: str) -> NoReturn:
    raise NotOffered(f'a parent of a federation does not offer {operation}')
