# SPDX-License-Identifier: Apache-2.0
"""The volumes of groups, in requests."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.checks import federation
from nova_holistic.api import errors
from nova_holistic.api.requests import microversions
from nova_holistic.documents.groups.adoption import KEY as ADOPT
from nova_holistic.documents.groups.volumes import (
    must_have_servers, must_keep_volumes)
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import has_volumes, volume_places
from nova_holistic.table.records import GroupRecord
from nova_holistic.table.volume_records import CLAIMABLE


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
                f'{place}.kind', 'only dry runs accept volumes before version '
                f'{microversions.VOLUMES} of the API')
        _must_not_adopt(call.body['group'])
        must_have_servers(group)


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
