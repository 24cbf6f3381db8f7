# SPDX-License-Identifier: Apache-2.0
"""Definitions of groups, as far as they can be judged without a cloud."""

from typing import Any

from nova_holistic.api.call import Service
from nova_holistic.api.errors import ApiError
from nova_holistic.documents.group import parse_group
from nova_holistic.model.group import Group
from nova_holistic import objectives


def accepted(service: Service, document: Any, before: int = 0) -> Group:
    """
    :param document: without its outer key
    :param before: how many members the group has already, which it may keep
    :raises InvalidDocument: at the first thing that cannot be accepted
    :raises ApiError: 403, more members than the operator lets a group have
    """
    group = parsed(service, document)
    members, most = size(group), service.conf.holistic_api
    if members > max(before, most.max_members_per_group):
        raise ApiError(403, 'over_limit',
                       f'{members} members; a group may have '
                       f'{most.max_members_per_group}')
    return group


def parsed(service: Service, document: Any) -> Group:
    """The same, however many members it has."""
    return parse_group({'group': document}, service.policy_types)


def size(group: Group) -> int:
    """How many members a group has."""
    return len(group.all_members())


def objective(service: Service, name: str | None) -> str:
    """The one asked for, or else the configured one.

    :raises UnknownPlugin: there is none of that name
    """
    name = name or service.conf.planner.objective
    objectives.load_objective(name)
    return name
