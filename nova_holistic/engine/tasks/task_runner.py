# SPDX-License-Identifier: Apache-2.0
"""Carries out the tasks that an engine took from the table."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.documents.groups.adoption import adoptions
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.creator import Creator
from nova_holistic.engine.decision.planning_request import NotPlanned
from nova_holistic.engine import errors
from nova_holistic.engine import reasons
from nova_holistic.engine.replan.replanner import Replanner
from nova_holistic.engine.tasks.ownership import Ownership
from nova_holistic.engine.update import built_members
from nova_holistic.engine.update.updater import Updater
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.group_reasons import (
    BesideMissing, without_repeated)
from nova_holistic.table.queries.progress import SETTLING
from nova_holistic.table.records import GroupRecord, GroupStatus, Task
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Changes = Mapping[str, Any]
"""Fields of a GroupRecord that the end of its task changes."""

Work = Callable[[GroupRecord], Changes | None]
"""Carries out a task. Returns the changes with which the task ends; None if it
has already ended the task."""


Act = Callable[[GroupRecord, Changes], Changes]
"""Carries out, or only lists, the actions that servers require after an update
of their group. It receives the changes with which the task would end, and
returns those with which it ends."""

CheckStatus = Callable[[GroupRecord], Changes]
"""Returns the status and the violations of a group that its servers
require."""


class TaskRunner:
    """Carries out tasks. At the end of a task, the table contains the correct
    status of its group and the reasons.

    There are three exceptions: the table does not respond; another engine has
    the task; unneeded holds remain and Placement does not respond.

    :ivar act: carries out the actions that servers require after an update;
        None if this engine does not use Nova
    :ivar check_status: checks a degraded group after an update; None if only
        the reconciler checks it
    """

    def __init__(self, creator: Creator, replanner: Replanner,
                 updater: Updater, table: PlacementTable,
                 policy_types: PolicyTypes, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._creator = creator
        self._replanner = replanner
        self._updater = updater
        self._table = table
        self._policy_types = policy_types
        self._clock = clock
        self._tasks: dict[Task, Work] = {
            Task.PLANNING: self._plan,
            Task.REPLANNING: self._replan,
            Task.UPDATING: self._update,
        }
        self.act: Act | None = None
        self.check_status: CheckStatus | None = None

    def add(self, tasks: Mapping[str, Work]) -> None:
        """Add tasks.

        :param tasks: functions that carry out tasks, by the name of a ``Task``
        """
        self._tasks.update((Task(name), work) for name, work in tasks.items())

    def perform(self, record: GroupRecord) -> None:
        """Carry out the task of a group: see ``Planner.perform``."""
        ownership = Ownership(self._table, record, self._clock)
        try:
            if record.task not in self._tasks:
                raise exceptions.HolisticError(
                    f'this engine does not support the task {record.task}')
            changes = self._tasks[record.task](record)
            if changes is not None:
                # The status is written before the task ends, because clients
                # rely on the status when they see no task.
                self._table.settle(record.uuid, self._clock())
                crash_points.reached('task.settled')
                ownership.finish(**changes)
        except (table_errors.TableError, errors.OwnershipLost,
                errors.HoldsNotDropped):
            raise
        except exceptions.HolisticError as error:
            self.give_up(record, reasons.of_errors(error))
        except BaseException as error:
            self.give_up(record, [reasons.of_error(
                error, f'{record.task} failed: {error!r}')])
            raise

    def give_up(self, record: GroupRecord, why: Sequence[Reason]) -> None:
        """End the task without carrying it out. A group that had a plan keeps
        it, and only its reasons change."""
        ownership = Ownership(self._table, record, self._clock)
        adopts = bool(adoptions(record.document))
        if adopts and record.task != Task.UPDATING:
            self._updater.undo(record)
            crash_points.reached('task.undone')
        if record.task == Task.PLANNING and (
                record.status == GroupStatus.PLANNING):
            self._creator.give_up(ownership, GroupStatus.ERROR, why)
        else:
            if record.task == Task.UPDATING:
                self._updater.undo(record)
                crash_points.reached('task.undone')
            ownership.finish(
                reasons=BesideMissing([r.to_row() for r in why]))

    def _plan(self, record: GroupRecord) -> Changes | None:
        ownership = Ownership(self._table, record, self._clock)
        if adoptions(record.document) or record.status in SETTLING:
            # If the group has a plan, an engine crashed after it had adopted
            # the servers.
            try:
                return self._updater.update(record)
            except NotPlanned as end:
                self._creator.give_up(ownership, end.status, end.reasons)
                return None
        self._creator.plan(
            ownership, parse_group(record.document, self._policy_types),
            (record.pending or {}).get('lease'))
        return None

    def _update(self, record: GroupRecord) -> Changes:
        try:
            changes = self._updater.update(record)
        except NotPlanned as end:
            return {'reasons': BesideMissing(
                [r.to_row() for r in end.reasons])}
        if self.act is not None and built_members.allowed(record.pending):
            changes = self.act(record, changes)
        return {**self._status_after_update(record, changes), **changes}

    def _status_after_update(self, record: GroupRecord,
                             changes: Changes) -> Changes:
        """The status of a degraded group: the update may have removed the
        violated policy, or a server that violated it."""
        if (self.check_status is None or 'status' in changes
                or record.status != GroupStatus.DEGRADED):
            return {}
        try:
            return self.check_status(record)
        except table_errors.TableError:
            raise
        except exceptions.HolisticError as error:
            LOG.warning('Group %s is checked later by the reconciler: %s',
                        record.uuid, error)
            return {}

    def _replan(self, record: GroupRecord) -> Changes | None:
        """Find places for lost members. A group without any plan is planned
        as if it were new."""
        if record.status in CLAIMABLE:
            return {'reasons': BesideMissing(self._replanner.reasons(record))}
        if record.status in SETTLING or any(
                m.instance_uuid for m in self._table.members(record.uuid)):
            # The group was released or completed after the task was requested.
            return {'reasons': without_repeated}
        return self._plan(record)
