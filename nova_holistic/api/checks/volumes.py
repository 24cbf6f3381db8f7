# SPDX-License-Identifier: Apache-2.0
"""The volumes of groups, in requests."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.checks import federation, user_right
from nova_holistic.api.description import definitions
from nova_holistic.api import errors
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.documents.groups.adoption import KEY as ADOPT
from nova_holistic.documents.groups.volumes import (
    AT_PLAN_TIME, at_plan_time, has_volumes_at_plan_time, must_have_servers,
    must_keep_volumes)
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import has_volumes, volume_places
from nova_holistic.table.created_volumes import VolumeRequest
from nova_holistic.table.records import GroupRecord
from nova_holistic.table.volume_records import CLAIMABLE

_INSTEAD = 'create the volumes with their pointers'


def must_be_creatable(call: Call, group: Group) -> None:
    """Check the volumes of a new group.

    :raises InvalidDocument: the version of the request creates no volumes, or
        the group cannot have them
    :raises ApiError: 400, a parent of a federation plans no volumes
    """
    federation.must_have_no_volumes(call, group)
    for place in volume_places(group):
        if not microversions.has(call.request, microversions.VOLUMES):
            raise InvalidDocument(
                f'{place}.kind', f'requires version {microversions.VOLUMES} '
                'of the API, except in dry runs')
        _must_not_adopt(call.body['group'])
        must_have_servers(group)
    if at_plan_time(group):
        _must_be_created(call, group)


def request(call: Call, record: GroupRecord) -> VolumeRequest | None:
    """The request for an engine, with the right to act for the user; None if
    no volume has the key.

    To be called last, because it creates a trust.

    :raises ApiError: 403, keystone refuses the trust
    """
    if not has_volumes_at_plan_time(record.document):
        return None
    paths = at_plan_time(definitions.parse_definition(
        call.service, record.document))
    return VolumeRequest(
        user_right.grant(call, record.uuid, AT_PLAN_TIME, _INSTEAD),
        paths, call.context.request_id)


def _must_be_created(call: Call, group: Group) -> None:
    """Check that an engine can create volumes.

    :raises InvalidDocument: the version of the request does not have the key
    :raises ApiError: 400 if engines create no volumes, 403 if the user may not
        request it
    """
    service = call.service
    if not microversions.has(call.request, microversions.CREATED_VOLUMES):
        place = next(iter(volume_places(group)))
        raise InvalidDocument(
            f'{place}.{AT_PLAN_TIME}',
            f'requires version {microversions.CREATED_VOLUMES} of the API')
    if not service.policy_enforcer.may(call.context, rules.CREATE_VOLUMES):
        raise errors.forbidden(rules.CREATE_VOLUMES, AT_PLAN_TIME, _INSTEAD)
    if service.user_rights is None:
        raise errors.ApiError(
            400, 'volumes_unavailable',
            f'{AT_PLAN_TIME}: this service does not create volumes; '
            f'{_INSTEAD}')


def must_stay(record: GroupRecord, document: Mapping[str, Any],
              before: Group, after: Group) -> None:
    """Check that an update leaves the volumes of a group unchanged.

    :param document: the new definition without its outer key
    :raises InvalidDocument: it changes volumes, with the position of each; or
        no server remains, or existing servers become members
    :raises ApiError: 409, the volumes have no pools
    """
    must_keep_volumes(before, after)
    if has_volumes(after):
        _must_not_adopt(document)
        must_have_servers(after)
        if record.status not in CLAIMABLE:
            raise errors.conflict(
                f'group {record.uuid} is {record.status}: a group with '
                'volumes can be updated only after it is planned; replan it, '
                'or create a new group')


def _must_not_adopt(document: Mapping[str, Any]) -> None:
    if ADOPT in document:
        raise InvalidDocument(
            ADOPT, 'a group with volumes cannot adopt servers')
