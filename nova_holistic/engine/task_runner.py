# SPDX-License-Identifier: Apache-2.0
"""Carries out the tasks that an engine took from the table."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from oslo_log import log as logging

from nova_holistic.documents.group import parse_group
from nova_holistic.engine.creator import Creator
from nova_holistic.engine import errors
from nova_holistic.engine.ownership import Ownership
from nova_holistic.engine import reasons
from nova_holistic.engine.replanner import Replanner
from nova_holistic.engine.updater import Updater
from nova_holistic import exceptions
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.table.claim import CLAIMABLE
from nova_holistic.table import errors as table_errors
from nova_holistic.table.progress import SETTLING
from nova_holistic.table.records import GroupRecord, GroupStatus, Task
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Changes = Mapping[str, Any]
"""Fields of a GroupRecord with which its task ends."""


class TaskRunner:
    """A task ends with its group settled and its reasons told, unless the
    table does not answer, or it is another engine's by now, or something is
    still held for nothing and Placement does not answer."""

    def __init__(self, creator: Creator, replanner: Replanner,
                 updater: Updater, table: PlacementTable,
                 policy_types: PolicyTypes, clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._creator = creator
        self._replanner = replanner
        self._updater = updater
        self._table = table
        self._policy_types = policy_types
        self._clock = clock
        # Each gives the changes with which the task ends; None where it has
        # ended the task itself.
        self._tasks: dict[Task, Callable[[GroupRecord], Changes | None]] = {
            Task.PLANNING: self._plan,
            Task.REPLANNING: self._replan,
            Task.UPDATING: self._updater.update,
        }

    def perform(self, record: GroupRecord) -> None:
        """See ``Planner.perform``."""
        ownership = Ownership(self._table, record, self._clock)
        try:
            if record.task not in self._tasks:
                raise exceptions.HolisticError(
                    f'this engine knows no task {record.task}')
            changes = self._tasks[record.task](record)
            if changes is not None:
                # First: whoever sees no task any more relies on the status.
                self._table.settle(record.uuid, self._clock())
                ownership.finish(**changes)
        except (table_errors.TableError, errors.OwnershipLost,
                errors.HoldsLeft):
            raise
        except exceptions.HolisticError as error:
            self.give_up(record, [reasons.of_error(error)])
        except BaseException as error:
            self.give_up(record, [reasons.of_error(
                error, f'{record.task} broke off: {error!r}')])
            raise

    def give_up(self, record: GroupRecord, why: Sequence[Reason]) -> None:
        """The task ends without having been done: a group that was there
        stays as it was, but for the reasons."""
        ownership = Ownership(self._table, record, self._clock)
        if record.task == Task.PLANNING:
            self._creator.give_up(ownership, GroupStatus.ERROR, why)
        else:
            if record.task == Task.UPDATING:
                self._updater.undo(record)
            ownership.finish(reasons=[r.to_row() for r in why])

    def _plan(self, record: GroupRecord) -> None:
        self._creator.plan(
            Ownership(self._table, record, self._clock),
            parse_group(record.document, self._policy_types),
            (record.pending or {}).get('lease'))

    def _replan(self, record: GroupRecord) -> Changes | None:
        """Lost members get places; a group that has none at all is planned
        as if it were new."""
        if record.status in CLAIMABLE:
            return {'reasons': self._replanner.reasons(record)}
        if record.status in SETTLING or any(
                m.instance_uuid for m in self._table.members(record.uuid)):
            # It was released, or completed, after this was asked for.
            return {}
        self._plan(record)
        return None
