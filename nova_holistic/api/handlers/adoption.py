# SPDX-License-Identifier: Apache-2.0
"""Existing servers as members: adopted and detached."""

import webob

from nova_holistic.api.call import Call
from nova_holistic.api.checks import adoption, federation
from nova_holistic.api.description import definitions
from nova_holistic.api import errors
from nova_holistic.api.handlers import tasks
from nova_holistic.api.requests import entity_tags
from nova_holistic.api.views import groups as views
from nova_holistic.documents.groups.adoption import adoptions, with_adoptions
from nova_holistic.documents.validation import brief
from nova_holistic.table.changes import detaching
from nova_holistic.table.changes.detaching import Detached
from nova_holistic.table import errors as table_errors


def adopt(call: Call) -> webob.Response:
    """Let existing servers become members of a group."""
    record = call.group()
    entity_tags.must_match(call.request, record)
    definition = views.definition(record)
    document = with_adoptions(
        definition, {**adoptions(definition), **call.body['adopt']})
    adoption.must_be_free(call, document, record, record.uuid)
    return tasks.request_update(call, record, document,
                                accept=definitions.check_reduced,
                                **adoption.task_arguments(call))


def detach(call: Call) -> webob.Response:
    """Take a server out of a group; the server is not affected."""
    record, path = call.group(), call.body['detach']['member']
    revision = entity_tags.must_match(call.request, record)
    service = call.service
    if federation.detach(call, record, path, revision):
        return tasks.respond(call, 200, call.group())
    outcome = detaching.detach(
        service.table.database, record.uuid, path, service.clock(), revision)
    if outcome == Detached.STALE:
        raise entity_tags.stale(call.request, record, call.group().revision)
    if outcome == Detached.UNKNOWN:
        raise table_errors.MemberUnknown(record.uuid, path)
    if outcome == Detached.NOT_BUILT:
        raise errors.conflict(
            f'member {brief(path)} has no server, or its server is not built')
    return tasks.respond(call, 200, call.group())
