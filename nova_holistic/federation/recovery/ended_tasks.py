# SPDX-License-Identifier: Apache-2.0
"""Ends tasks that wait for a user who never returns.

A parent performs a task only with the credentials of the user who has
requested it. If the process that performs it stops, the task waits for the
next request of this user, and the group can neither be changed nor deleted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
import os
import socket

from nova_holistic.federation import unfinished_task
from nova_holistic.model.plan import Reason
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.records import GroupRecord
from nova_holistic.table.store import PlacementTable

BUSY, ENDED, FOUND, NO_TASK = 'busy', 'ended', 'found', 'no task'
"""Results for a group: a process works on its task, so that nothing is
changed; its task is ended; the task would be ended; it has no task."""


@dataclass(frozen=True, slots=True)
class EndedTask:
    """The result for one group.

    :ivar task: kind of the task; None: the group has no task
    :ivar project_id: project of the request for the task
    :ivar user_id: user for whom the task waits
    :ivar result: ``BUSY``, ``ENDED``, ``FOUND`` or ``NO_TASK``
    """

    group: str
    task: str | None
    project_id: str
    user_id: str
    result: str


def end(table: PlacementTable, group_uuid: str, timeout: timedelta,
        clock: Callable[[], datetime], dry_run: bool) -> EndedTask:
    """End the task of a group on which no process works.

    The children receive no request. The next request of any user of the group
    settles the parts that the task has left.

    :param timeout: time without a heartbeat after which a process does not
        count as working
    :param dry_run: whether nothing is changed
    :raises GroupUnknown: there is no such group
    """
    group = table.get_group(group_uuid)
    if group is None:
        raise GroupUnknown(group_uuid)
    if group.task is None:
        return _result(group, NO_TASK)
    now = clock()
    if dry_run:
        free = group.engine is None or (
            group.engine_at is not None and group.engine_at < now - timeout)
        return _result(group, FOUND if free else BUSY)
    owner = f'operator:{socket.gethostname()[:64]}:{os.getpid()}'
    taken = table.tasks.take(group_uuid, owner, now, now - timeout)
    if taken is None:
        return _result(group, BUSY)
    text = f'an operator has ended the task {taken.task} before its end'
    why = Reason('', text, names=(), hidden=(), public=text)
    return _result(taken, ENDED if unfinished_task.end(
        table, taken, [why], now) else BUSY)


def _result(group: GroupRecord, result: str) -> EndedTask:
    pending = group.pending or {}
    return EndedTask(
        group.uuid, group.task and str(group.task),
        pending.get('project_id', group.project_id),
        pending.get('user_id', group.user_id), result)
