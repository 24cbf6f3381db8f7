# SPDX-License-Identifier: Apache-2.0
"""Checks of requests to adopt servers, before an engine reads the servers."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api import errors
from nova_holistic.api.policy_enforcer import Owned
from nova_holistic.api.requests import microversions
from nova_holistic.documents.groups.adoption import adoptions, KEY, position
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.elastic.fitted_group import fitted
from nova_holistic.model.group import Group
from nova_holistic.table.queries.memberships import owners

SINCE = '1.1'
"""The first version of the API that adopts servers."""

STRICT = 'strict'


def must_be_known(call: Call) -> None:
    """
    :raises InvalidDocument: the version of the request does not have the keys
    """
    if microversions.has(call.request, SINCE):
        return
    for key, section in ((KEY, call.body['group']), (STRICT, call.body)):
        if key in section:
            raise InvalidDocument(
                key, f'requires version {SINCE} of the API')


def must_be_free(call: Call, document: Mapping[str, Any], owner: Owned,
                 group_uuid: str | None = None) -> None:
    """
    :param document: an accepted group document
    :param owner: the record of the group; for a new one, the context
    :raises ApiError: 409, a server is a member of the project already
    """
    adopted = adoptions(document)
    members = owners(call.service.table.database, adopted.values())
    # The response reveals nothing about groups of other projects. The engine
    # refuses their servers.
    conflicts = [
        f'{position(path)}: server {uuid} is member {member.path!r} of group '
        f'{member.group_uuid} already'
        for path, uuid in adopted.items() for member in [members.get(uuid)]
        if member is not None and member.project_id == owner.project_id
        and (member.group_uuid, member.path) != (group_uuid, path)]
    if conflicts:
        error = errors.conflict(conflicts[0])
        error.details = conflicts
        raise error


def task_arguments(call: Call) -> dict[str, bool]:
    """The parameters of the task."""
    return {STRICT: True} if call.body.get(STRICT) else {}


def to_be_created(group: Group, document: Mapping[str, Any]) -> Group:
    """The group without the members that are existing servers. If the number
    of a member may change, each adopted server replaces a planned one."""
    adopted = adoptions(document)
    if not adopted:
        return group
    whole = fitted(group, adopted.keys(), ())
    return whole.only({member.path for member in whole.all_members()}
                      - adopted.keys())
