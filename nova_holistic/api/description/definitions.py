# SPDX-License-Identifier: Apache-2.0
"""Checks of group definitions that need no snapshot of the cloud."""

from collections.abc import Iterator
from typing import Any

from nova_holistic.api.call import Call, Service
from nova_holistic.api.errors import ApiError
from nova_holistic.api.policy_enforcer import Owned
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.hot.source_places import SourcePlaces
from nova_holistic.exceptions import InvalidDocument, UnknownPlugin
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.storage_pools import servers_only
from nova_holistic import objectives


def check_definition(call: Call, document: Any, owner: Owned,
                     before: int = 0) -> Group:
    """Check a group whose capacity will be held.

    :param document: the document without its outer key
    :param owner: the record of the group; for a new one, the context
    :param before: number of members that the group already has and may keep
    :raises InvalidDocument: at the first invalid part
    :raises ApiError: 403, the caller may not declare such a group
    """
    group = check_reduced(call, document, owner, before)
    call.service.rights.must_allow(call.context, group, owner)
    return group


def check_added(places: SourcePlaces, call: Call, document: Any,
                owner: Owned, before: int = 0) -> Group:
    """Check a group to which the request adds members.

    :param places: positions in the document, with those in the request
    """
    with places.errors_at_origin():
        group = parse_definition(call.service, document)
    group = places.moved(group)
    _must_be_within_limit(call, group, owner, before)
    call.service.rights.must_allow(call.context, group, owner)
    return group


def check_dry_run(call: Call, document: Any, owner: Owned) -> Group:
    """Check a group that is planned without being held.

    :param document: the document without its outer key
    :raises InvalidDocument: at the first invalid part
    :raises ApiError: 403, the caller may not declare such a group
    """
    group = parse_definition(call.service, document)
    _must_be_within_limit(call, group, owner)
    call.service.rights.must_allow(call.context, group, owner)
    return group


def check_reduced(call: Call, document: Any, owner: Owned,
                  before: int = 0) -> Group:
    """Check a group that only loses members: its other parts have been
    accepted before."""
    group = parse_definition(call.service, document)
    _must_be_within_limit(call, group, owner, before)
    return group


def _must_be_within_limit(call: Call, group: Group, owner: Owned,
                          before: int = 0) -> None:
    most = call.service.conf.holistic_api.max_members_per_group
    members = len(group.all_members())
    if members > max(before, most) and not call.may_exceed_limits(owner):
        raise ApiError(403, 'over_limit',
                       f'{_place_of_member(group, most)}: {members} members; '
                       f'a group may have {most}')


def parse_definition(service: Service, document: Any) -> Group:
    """Parse the document without a check of the user's roles or the number of
    members."""
    try:
        return parse_group({'group': document}, service.policy_types)
    except InvalidDocument as error:
        raise error.inside('group') from None


def member_count(group: Group) -> int:
    """Number of servers of a group, which the limit of its project counts."""
    return len(servers_only(group).all_members())


def objective(service: Service, name: str | None) -> str:
    """The requested objective, or the configured one.

    :raises InvalidDocument: no plug-in of the requested name is installed
    :raises UnknownPlugin: no plug-in of the configured name is installed
    """
    if not name:
        name = service.conf.planner.objective
        objectives.load_objective(name)
        return name
    try:
        objectives.load_objective(name)
    except UnknownPlugin as error:
        raise InvalidDocument('objective', str(error)) from error
    return name


def _place_of_member(group: Group, number: int) -> str:
    """Position of that member in the document, counted from 0."""
    for description in _descriptions(group):
        number -= len(description.server_names())
        if number < 0:
            break
    return description.place + ('' if description.count is None else '.count')


def _descriptions(group: Group) -> Iterator[MemberDescription]:
    yield from group.members
    for nested in group.groups:
        yield from _descriptions(nested)
