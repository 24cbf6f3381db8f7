# SPDX-License-Identifier: Apache-2.0
"""Members of a group: added, removed, released, shown."""

from collections.abc import Mapping

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.description import definitions
from nova_holistic.api import errors
from nova_holistic.api.handlers import tasks
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import entity_tags, microversions
from nova_holistic.api import server_keys
from nova_holistic.api.views import groups as group_views, members as views
from nova_holistic.documents import revision
from nova_holistic.documents.validation import brief
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.coordination.parts import GroupPart


def add(call: Call) -> webob.Response:
    """Add members to a group, or servers to a counted member."""
    record = call.group()
    server_keys.must_be_known(call)
    entity_tags.must_match(call.request, record)
    return tasks.request_update(call, record, revision.with_members(
        group_views.definition(record), call.body['members']))


def remove(call: Call) -> webob.Response:
    """Remove a member, or one server of a counted member, from a group."""
    record, path = call.group(), call.names['path']
    entity_tags.must_match(call.request, record)
    definition = group_views.definition(record)
    members = definitions.parse_definition(call.service,
                                           definition).all_members()
    if not any(path in (m.path, m.description) for m in members):
        raise errors.not_found('member', brief(path))
    try:
        document = revision.without_member(definition, path)
    except InvalidDocument as error:
        raise errors.conflict(error.message) from error
    return tasks.request_update(
        call, record, document, accept=definitions.check_reduced)


def release(call: Call) -> webob.Response:
    """Free the planned capacity of all members, or of some."""
    record = call.group()
    done = call.service.engines.release(
        call.context.for_engine(), record.uuid,
        call.body['release'].get('members'))
    return answer(200, {'released': list(done.released),
                        'kept': list(done.kept)})


def placements(call: Call) -> webob.Response:
    """Show the members of a group, and their hosts."""
    record = call.group()
    found = call.service.table.group_with_members(record.uuid)
    if found is None:
        raise errors.not_found('group', record.uuid)
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    clouds = _clouds(call, record.uuid)
    return answer(200, {'placements': [
        {**views.placement(member, hosts),
         **(views.pointer(member, clouds[member.member.path])
            if member.member.path in clouds else {})}
        for member in found[1]]})


def _clouds(call: Call, group_uuid: str) -> Mapping[str, GroupPart]:
    """The part of each member that a child of this service has, by the path
    of the member; nothing if the version of the request does not have it."""
    if not microversions.has(call.request, microversions.CLOUDS):
        return {}
    return {path: part for part in call.service.table.parts.of_group(
        group_uuid) for path in part.paths}
