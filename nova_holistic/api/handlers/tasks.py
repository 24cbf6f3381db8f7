# SPDX-License-Identifier: Apache-2.0
"""Tasks for engines: how the API requests them, and how it reports their
progress."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.checks import (
    federation, limits, server_actions, volumes)
from nova_holistic.api.description import definitions
from nova_holistic.api import errors, waiting
from nova_holistic.api.requests import entity_tags
from nova_holistic.api.views import actions, groups as views
from nova_holistic import crash_points
from nova_holistic.model.group import Group
from nova_holistic.table.changes import member_release
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberState, Task)

REVISABLE = tuple(
    status for status in GroupStatus if status != GroupStatus.PLANNING)
"""Statuses of a group whose definition may be changed."""


def request_update(call: Call, record: GroupRecord,
                   document: Mapping[str, Any],
                   objective: str | None = None,
                   accept: Callable[..., Group] = definitions.check_definition,
                   **arguments: Any) -> webob.Response:
    """Request an update of the group to the definition in the document.

    :param document: the document without its outer key
    :param accept: parses the document, if the caller may declare it
    :param arguments: further parameters of the task
    """
    service = call.service
    before = definitions.parse_definition(service, views.definition(record))
    group = accept(call, document, record, len(before.all_members()))
    volumes.must_stay(record, document, before, group)
    size = definitions.member_count(group)
    must_allow_members(call, record, size)
    return request_task(call, record, TaskRequest(Task.UPDATING, REVISABLE, {
        'document': document,
        'objective': definitions.objective(
            service, objective or record.objective),
        # Members that are released from now on stay released, independent of
        # when an engine begins.
        'released': member_release.released(service.table.database, record),
        **(server_actions.changed_images(call, record, before, group)
           if arguments.get('actions') else {}),
        **federation.update_arguments(call, record, document),
        **arguments,
    }, size))


def must_allow_members(call: Call, record: GroupRecord, size: int) -> None:
    """Check the limits of the project for the number of members after the
    update.

    :param size: number of members after the update
    :raises ApiError: 403; never if the group does not grow
    """
    counts = call.service.table.listing.member_counts(
        [record.uuid])[record.uuid]
    existing = sum(number for state, number in counts.items()
                   if state != MemberState.RELEASED)
    if record.task is not None:
        # The members were counted when the previous task was requested.
        existing = max(existing, record.asked or 0)
    more = size - existing
    if more > 0:
        call.must_be_within_limits(record, {limits.MEMBERS: more})


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task that an engine carries out.

    :ivar expected: statuses of the group that allow the task
    :ivar arguments: parameters of the task
    :ivar size: number of members after the task; None if it does not change
    """

    task: Task
    expected: Collection[GroupStatus]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    size: int | None = None


def request_task(call: Call, record: GroupRecord, request: TaskRequest,
                 success: int = 200) -> webob.Response:
    """Request a task from an engine; 409 if the state of the group does not
    allow it.

    :param success: the status of the response after the engine has finished
    """
    service = call.service
    if not service.table.tasks.request(
            record.uuid, NewTask(
                request.task, task_parameters(call, **request.arguments),
                request.expected, record.revision, request.size),
            service.clock()):
        raise _refused(call, record)
    crash_points.reached('api.task-asked')
    service.engines.plan_group(call.context.for_engine(), record.uuid)
    return follow_task(call, record.uuid, success=success)


def follow_task(call: Call, group_uuid: str, success: int,
                created: GroupRecord | None = None) -> webob.Response:
    """Return the group: with 202 while an engine works on it, and with the
    other status if the request waits until the engine has finished.

    :param created: the group if this request has just created it
    """
    service = call.service

    def read() -> GroupRecord | None:
        nonlocal created
        new, created = created, None
        # An engine in the same process may already have planned the group.
        if new is not None and service.is_pending(group_uuid):
            return new
        return service.table.get_group(group_uuid)

    record, settled = waiting.wait_until_settled(
        call, read, lambda record: record.task is None,
        lambda: service.is_pending(group_uuid))
    if record is None:
        raise errors.not_found('group', group_uuid)
    return respond(call, success if settled else 202, record,
                   {'Location': call.url(f'/v1/groups/{group_uuid}')})


def respond(call: Call, status: int, record: GroupRecord,
            headers: Mapping[str, str] | None = None) -> webob.Response:
    """A response with the group, and with its revision as entity tag."""
    return entity_tags.tag(
        answer(status, {'group': brief(call, record)}, headers),
        record.revision)


def brief(call: Call, record: GroupRecord) -> dict[str, Any]:
    """The group without its document and members."""
    counts = call.service.table.listing.member_counts([record.uuid])
    return {**views.brief(call, record, counts[record.uuid]),
            **actions.actions(call, record),
            **views.objective_value(call, record)}


def task_parameters(call: Call, **arguments: Any) -> dict[str, Any]:
    """The parameters of a task: the request, and its user and project."""
    context = call.context
    return {**arguments, 'request_id': context.request_id,
            'user_id': context.user_id, 'project_id': context.project_id}


def _refused(call: Call, record: GroupRecord) -> errors.ApiError:
    """The error for a refused task, from the current state of the group."""
    now = call.service.table.get_group(record.uuid)
    if now is None:
        return errors.not_found('group', record.uuid)
    if now.revision != record.revision:
        return entity_tags.stale(call.request, record, now.revision)
    if now.task is not None:
        return errors.conflict(
            f'group {record.uuid} is busy: {now.task}; try again when this '
            'task is finished')
    return errors.conflict(
        f'group {record.uuid} is {now.status}: this status does not allow the '
        'operation')
