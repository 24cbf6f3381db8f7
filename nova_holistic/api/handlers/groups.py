# SPDX-License-Identifier: Apache-2.0
"""Groups: create, list, show, update, extend and delete."""

from dataclasses import replace
import functools
from typing import Any
from urllib import parse
import uuid

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.checks import (
    adoption, boot, federation, limits, server_actions, server_keys, volumes)
from nova_holistic.api.description import definitions
from nova_holistic.api import errors
from nova_holistic.api.handlers import tasks
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.policy_enforcer import Owned
from nova_holistic.api.requests import (
    entity_tags, idempotency, list_positions, microversions)
from nova_holistic.api.views import boots as boot_views
from nova_holistic.api.views import (
    common, groups as views, reasons, volume_creations)
from nova_holistic import crash_points
from nova_holistic.documents.groups.bounds import has_bounds
from nova_holistic.documents.groups.without_policies import (
    parse_without_policies)
from nova_holistic.model.elastic import counts
from nova_holistic.model.group import Group
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors as table_errors
from nova_holistic.table.queries.group_page import Page
from nova_holistic.table.queries.progress import WITH_SERVERS
from nova_holistic.table.records import GroupRecord, GroupStatus, Task


def create(call: Call) -> webob.Response:
    """Create a group.

    The group is in the table before the message to an engine is sent, so that
    no group is lost if the message is lost.
    """
    service, context, body = call.service, call.context, call.body
    key = idempotency.key_of(call.request)
    created = None
    existing = idempotency.find_repeated(
        service, context.project_id, key, body)
    if existing is None:
        record = _record(call, key)
        boot_request = boot.request(call, record.uuid)
        if boot_request is not None:
            crash_points.reached('api.right-granted')
        try:
            volume_request = volumes.request(call, record)
        except errors.ApiError:
            _withdraw_rights(call, record, boot_request)
            raise
        if volume_request is not None:
            crash_points.reached('api.right-granted')
        try:
            service.table.create_group(record, boot_request, volume_request)
        except Duplicate:
            _withdraw_rights(call, record, boot_request, volume_request)
            # Of two simultaneous requests with one key, the table accepts the
            # first.
            existing = idempotency.find_repeated(
                service, context.project_id, key, body)
            if existing is None:
                raise
        else:
            crash_points.reached('api.group-created')
            service.engines.plan_group(context.for_engine(), record.uuid)
            existing = created = record
    return tasks.follow_task(
        call, existing.uuid, success=201, created=created)


def _withdraw_rights(call: Call, record: GroupRecord, *requests: Any) -> None:
    """Delete the rights of requests that are not written.

    :param requests: each with a credential, or None
    """
    for request in requests:
        if request is not None:
            call.service.user_rights.withdraw(record.uuid, request.credential)
            crash_points.reached('api.right-granted')


def list_groups(call: Call) -> webob.Response:
    """List groups, page by page."""
    table, query = call.service.table, call.query
    limit = min(query.get('limit', call.service.conf.holistic_api.max_limit),
                call.service.conf.holistic_api.max_limit)
    page = Page(
        limit=limit + 1, project_id=_projects(call), name=query.get('name'),
        statuses=[GroupStatus(s) for s in query['status']]
        if 'status' in query else None,
        marker=query.get('marker'),
        sort_key=query.get('sort_key', 'created_at'),
        descending=query.get('sort_dir') == 'desc')
    try:
        if 'position' in query:
            page = replace(page, position=list_positions.read(
                query['position'], page))
        records = table.listing.groups(page) if limit else ()
    except table_errors.GroupUnknown:
        raise errors.ApiError(400, 'unknown_marker',
                              'marker: the list contains no such '
                              'group') from None
    states = table.listing.member_counts([r.uuid for r in records[:limit]])
    body = {'groups': [views.brief(call, r, states[r.uuid])
                       for r in records[:limit]]}
    if len(records) > limit > 0:
        body['groups_links'] = [_next(call, page, records[limit - 1])]
    return answer(200, body)


def show(call: Call) -> webob.Response:
    """Show a group."""
    record = federation.refreshed(call, call.group())
    document = views.definition(record)
    body = {**tasks.brief(call, record),
            'counts': _counts(call, record, document),
            'definition': document}
    if microversions.has(call.request, microversions.BOOTS):
        boots = call.service.table.boots
        body['boot'] = boot_views.boot(
            boots.get(record.uuid), boots.servers(record.uuid))
    if microversions.has(call.request, microversions.CREATED_VOLUMES):
        creations = call.service.table.volumes.creations
        body['volume_creation'] = volume_creations.creation(
            creations.get(record.uuid), creations.volumes(record.uuid))
    response = answer(200, {'group': body})
    return entity_tags.tag(response, record.revision)


def _counts(call: Call, record: GroupRecord, document: dict[str, Any]
            ) -> list[dict[str, Any]]:
    if not has_bounds(document):
        return []
    return [views.count(count) for count in counts.counts(
        parse_without_policies(document),
        call.service.table.listing.live_paths(record.uuid))]


def update(call: Call) -> webob.Response:
    """Replace the definition of a group."""
    record = call.group()
    adoption.must_be_known(call)
    server_keys.must_be_known(call)
    server_actions.must_be_known(call)
    entity_tags.must_match(call.request, record, required=True)
    return tasks.request_update(
        call, record, call.body['group'], call.body.get('objective'),
        accept=functools.partial(_accepted, record.uuid),
        **adoption.task_arguments(call),
        **server_actions.task_arguments(call, record))


def delete(call: Call) -> webob.Response:
    """Delete a group; its servers are not affected."""
    record = call.group()
    revision = entity_tags.must_match(call.request, record)
    call.service.engines.delete(
        call.context.for_engine(), record.uuid, revision)
    return answer(204)


def extend(call: Call) -> webob.Response:
    """Extend the lease of a group: it expires after the given number of
    seconds."""
    record = call.group()
    revision = entity_tags.must_match(call.request, record)
    seconds = call.body['extend']['seconds']
    _must_allow_lease(call, 'extend.seconds', seconds, record)
    call.service.engines.extend(
        call.context.for_engine(), record.uuid, seconds, revision)
    return tasks.respond(call, 200, call.group())


def replan(call: Call) -> webob.Response:
    """Plan lost members again; if the group has no plan, plan all members."""
    record = call.group()
    entity_tags.must_match(call.request, record)
    size = None
    if record.status not in CLAIMABLE:
        size = definitions.member_count(definitions.parse_definition(
            call.service, views.definition(record)))
        tasks.must_allow_members(call, record, size)
    return tasks.request_task(call, record, tasks.TaskRequest(
        Task.REPLANNING,
        (*CLAIMABLE, GroupStatus.UNPLACEABLE, GroupStatus.ERROR), size=size))


def repair(call: Call) -> webob.Response:
    """Propose live migrations that restore the hard policies of a group.

    With ``apply``, an engine carries them out, and the response is the group.
    """
    record = call.group()
    entity_tags.must_match(call.request, record)
    if call.body['repair'].get('apply', False):
        return tasks.request_task(call, record, tasks.TaskRequest(
            Task.REPAIRING, (*WITH_SERVERS, GroupStatus.DEGRADED)),
            success=202)
    outcome = call.service.engines.repair(
        call.context.for_engine(), record.uuid)
    return answer(200, {'repair': {
        **outcome,
        'reasons': reasons.visible_reasons(outcome['reasons'], hosts=True)}})


def _record(call: Call, key: str | None) -> GroupRecord:
    """The requested group, if its project may create it."""
    service, context, body = call.service, call.context, call.body
    adoption.must_be_known(call)
    server_keys.must_be_known(call)
    federation.must_be_placeable(call)
    group = _accepted(None, call, body['group'], context)
    volumes.must_be_creatable(call, group)
    boot.must_be_possible(call, group)
    objective = definitions.objective(service, body.get('objective'))
    size = definitions.member_count(group)
    _must_allow_lease(call, 'lease', body.get('lease'), context)
    call.must_be_within_limits(
        context, {limits.GROUPS: 1, limits.MEMBERS: size})
    if service.quota and not call.may_exceed_limits(context):
        service.quota.must_allow(
            context.project_id, adoption.to_be_created(group, body['group']))
    now = service.clock()
    return GroupRecord(
        uuid=str(uuid.uuid4()), name=group.name,
        project_id=context.project_id, user_id=context.user_id,
        status=GroupStatus.PLANNING, document=body['group'],
        objective=objective, created_at=now, updated_at=now,
        idempotency_key=key,
        fingerprint=key and idempotency.fingerprint(body),
        task=Task.PLANNING,
        pending=tasks.task_parameters(
            call, lease=body.get('lease'), **adoption.task_arguments(call)),
        asked=size)


def _accepted(group_uuid: str | None, call: Call, document: Any,
              owner: Owned, before: int = 0) -> Group:
    """Check the definition as ``check_definition`` does, and that its adopted
    servers belong to no group."""
    group = definitions.check_definition(call, document, owner, before)
    adoption.must_be_free(call, document, owner, group_uuid)
    return group


def _must_allow_lease(call: Call, place: str, seconds: int | None,
                      owner: Owned) -> None:
    """
    :param place: position of the seconds in the body
    :param seconds: 0 means no lease; None means the operator's default
    :raises ApiError: 403, the caller may not hold capacity for that long
    """
    longest = call.service.conf.holistic_api.max_lease
    if seconds is None or 0 < seconds <= longest:
        return
    if not call.service.policy_enforcer.may_with(
            call.context, rules.UNLIMITED_LEASE, owner):
        raise errors.forbidden(
            rules.UNLIMITED_LEASE, place,
            f'without this right, a lease is 1 to {longest} seconds long')


def _projects(call: Call) -> str | None:
    """The project whose groups are listed; None means all projects."""
    project = call.query.get('project_id', call.context.project_id)
    everybody = call.query.get('all_projects', False)
    if everybody and 'project_id' not in call.query:
        project = None
    if project != call.context.project_id or everybody:
        if not call.service.policy_enforcer.may(
                call.context, rules.LIST_ALL_PROJECTS):
            raise errors.forbidden(rules.LIST_ALL_PROJECTS)
    return project


def _next(call: Call, page: Page, last: GroupRecord) -> dict[str, str]:
    """The URL of the page after that group."""
    pairs = [(name, value) for name, value in call.request.GET.items()
             if name not in ('marker', 'position')]
    pairs.append(('marker', last.uuid))
    position = list_positions.after(page, last)
    if position is not None:
        pairs.append(('position', position))
    query = parse.urlencode(pairs)
    return common.link('next', f'{call.url("/v1/groups")}?{query}')
