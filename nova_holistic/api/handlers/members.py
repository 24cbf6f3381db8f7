# SPDX-License-Identifier: Apache-2.0
"""Members of a group: added, removed, released, shown."""

import functools
from typing import Any

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.checks import federation, server_keys
from nova_holistic.api.description import definitions
from nova_holistic.api import errors
from nova_holistic.api.handlers import tasks
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import entity_tags, microversions
from nova_holistic.api.views import (
    groups as group_views, members as views, volume_creations)
from nova_holistic.documents.groups import added_members, revision
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument


def add(call: Call) -> webob.Response:
    """Add members to a group, or servers to a counted member."""
    record = call.group()
    server_keys.must_be_known(call)
    entity_tags.must_match(call.request, record)
    places = SourcePlaces()
    document = added_members.with_members(
        group_views.definition(record), call.body['members'], places)
    return tasks.request_update(
        call, record, document,
        accept=functools.partial(definitions.check_added, places))


def remove(call: Call) -> webob.Response:
    """Remove a member, or one server of a counted member, from a group."""
    record, path = call.group(), call.names['path']
    entity_tags.must_match(call.request, record)
    definition = group_views.definition(record)
    members = definitions.parse_definition(call.service,
                                           definition).all_members()
    if not (any(path in (m.path, m.description) for m in members)
            or revision.describes_member(definition, path)):
        raise errors.not_found('member', brief(path))
    try:
        document = revision.without_member(definition, path)
    except InvalidDocument as error:
        raise errors.conflict(error.message) from error
    if all(path in (m.path, m.description) for m in members):
        raise errors.conflict(
            f'the desired number of all members except {brief(path)} is 0, '
            'and a group must have a member')
    return tasks.request_update(
        call, record, document, accept=definitions.check_reduced)


def release(call: Call) -> webob.Response:
    """Free the planned capacity of all members, or of some."""
    record = call.group()
    revision = entity_tags.must_match(call.request, record)
    outcome = call.service.engines.release(
        call.context.for_engine(), record.uuid,
        call.body['release'].get('members'), revision)
    return answer(200, {'released': list(outcome.released),
                        'kept': list(outcome.kept)})


def placements(call: Call) -> webob.Response:
    """Show the members of a group, and their hosts and pools."""
    record = federation.refreshed(call, call.group())
    group_with_members = call.service.table.group_with_members(record.uuid)
    if group_with_members is None:
        raise errors.not_found('group', record.uuid)
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    parts = federation.parts_by_path(call, record.uuid)
    clouds = microversions.has(call.request, microversions.CLOUDS)
    body = {'placements': [
        views.placement(member, hosts, parts.get(member.member.path), clouds)
        for member in group_with_members[1]]}
    if microversions.has(call.request, microversions.VOLUMES):
        body['volumes'] = _volumes(call, record.uuid, hosts)
    return answer(200, body)


def _volumes(call: Call, group_uuid: str,
             pools: bool) -> list[dict[str, Any]]:
    volumes = call.service.table.volumes
    rows = volumes.of_group(group_uuid)
    if not microversions.has(call.request, microversions.CREATED_VOLUMES):
        return [views.volume(row, pools) for row in rows]
    created = {each.path: each
               for each in volumes.creations.volumes(group_uuid)}
    return [views.volume(row, pools, creation=volume_creations.of_volume(
        created.get(row.path))) for row in rows]
