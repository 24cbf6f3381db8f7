# SPDX-License-Identifier: Apache-2.0
"""The differences between the API of a parent of a federation and other
services."""

from collections.abc import Mapping
from typing import Any

import webob

from nova_holistic.api.call import Call, Service
from nova_holistic.api.context import RequestContext
from nova_holistic.api import errors
from nova_holistic.documents.groups.adoption import KEY as ADOPT
from nova_holistic.federation import parent_path
from nova_holistic.federation.update.part_settler import HELD
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import has_volumes
from nova_holistic.table.coordination.parts import GroupPart
from nova_holistic.table.records import GroupRecord, PlanRecord

OFFERED = frozenset((
    'discovery.versions', 'discovery.version', 'discovery.openapi',
    'groups.create', 'groups.list_groups', 'groups.show', 'groups.delete',
    'groups.extend', 'groups.replan', 'groups.update', 'groups.repair',
    'events.list_events', 'members.release', 'members.placements',
    'members.add', 'members.remove', 'adoption.detach',
    'plans.create', 'plans.show',
    'federation.list_children', 'federation.register',
    'federation.unregister'))
"""The operations of a parent. The others concern servers and hosts, which only
the cloud of a member has."""


def must_offer(service: Service, operation: str) -> None:
    """
    :param operation: as in the API's description
    :raises ApiError: 400, this service is a parent, and parents do not offer
        the operation
    """
    if service.federation is not None and operation not in OFFERED:
        raise _not_offered(
            'this operation; send the request to the cloud of the member, '
            'with the group of its pointer')


def read_parents(service: Service, request: webob.Request,
                 context: RequestContext) -> None:
    """Let the context name the parents through which a request has come to
    this parent.

    :raises InvalidParents: the header has a wrong value
    :raises ParentsRefused: they form a cycle, or they are too many
    """
    header = request.headers.get(parent_path.HEADER)
    if service.federation is not None and header is not None:
        context.parents = parent_path.parse(header)
        service.federation.must_accept(context.parents)


def must_be_placeable(call: Call) -> None:
    """Check the body of a create request.

    :raises ApiError: 400, the body requests an operation that parents do not
        offer
    """
    if call.service.federation is None:
        return
    if ADOPT in call.body['group']:
        raise _not_offered(f'the key {ADOPT}')


def must_have_no_volumes(call: Call, group: Group) -> None:
    """
    :raises ApiError: 400, a parent plans no volumes
    """
    if call.service.federation is not None and has_volumes(group):
        raise _not_offered('volumes')


def update_arguments(call: Call, record: GroupRecord,
                     document: Mapping[str, Any]) -> dict[str, Any]:
    """Check an update of a parent's group.

    :param document: the new definition without its outer key
    :returns: further parameters of the task
    :raises InvalidDocument: the update is not possible in the clouds that the
        members have, at its position
    :raises ApiError: 400, a parent does not carry out actions
    """
    if call.service.federation is None:
        return {}
    if (call.body or {}).get('apply'):
        raise _not_offered(
            'the key apply; send the request to the cloud of the member')
    call.service.federation.must_be_updatable(record, document)
    return {'revision': record.revision}


def detach(call: Call, record: GroupRecord, path: str,
           revision: int | None) -> bool:
    """Whether this service is a parent, and has detached the server in its
    cloud.

    :param revision: required revision of the group; None means any
    """
    if call.service.federation is None:
        return False
    call.service.federation.detach(
        call.context.for_engine(), record.uuid, path, revision)
    return True


def refreshed(call: Call, record: GroupRecord) -> GroupRecord:
    """The group as the children of a parent report it now."""
    federation = call.service.federation
    if federation is None:
        return record
    federation.refresh(call.context.for_engine(), record)
    return call.service.table.get_group(record.uuid) or record


def refresh_plan(call: Call, record: PlanRecord) -> None:
    """Let a parent make a plan whose process has ended."""
    if call.service.federation is not None:
        call.service.federation.refresh_plan(
            call.context.for_engine(), record)


def parts_by_path(call: Call, group_uuid: str) -> dict[str, GroupPart]:
    """The part of each member that a child has, by the path of the member;
    nothing if the service is not a parent."""
    if call.service.federation is None:
        return {}
    return {path: part
            for part in call.service.table.parts.of_group(group_uuid)
            if part.state in HELD for path in part.paths}


def _not_offered(feature: str) -> errors.ApiError:
    return errors.ApiError(
        400, 'not_offered',
        f'a parent of a federation does not offer {feature}')
