# SPDX-License-Identifier: Apache-2.0
"""Changes of the definition of a group, which other operations may change at
the same time."""

from collections.abc import Callable, Mapping
from typing import Any

from nova_holistic.client.errors import Refused
from nova_holistic.client.groups import Groups, TIMEOUT
from nova_holistic.heat import api_client

_ATTEMPTS = 20
"""An attempt fails if another resource has just changed the group. Heat
updates all resources of a stack at the same time."""
_CHANGED = (409, 412)
"""Statuses of a response if a group has changed since it was read."""


def change(groups: Groups, group_id: str,
           request: Callable[[Mapping[str, Any]], Any],
           timeout: float = TIMEOUT) -> dict[str, Any]:
    """The group after a change, or with the reasons why the change was
    refused.

    :param request: sends the request for the change; receives the group
    :param timeout: seconds for the plan
    :raises Refused: the API refuses the change
    """
    for last in [False] * (_ATTEMPTS - 1) + [True]:
        before = groups.wait(group_id)
        try:
            request(before)
            break
        except Refused as error:
            if last or error.status not in _CHANGED:
                raise
    return groups.wait(group_id, timeout)


def revise(groups: Groups, group_id: str,
           revised: Callable[[Mapping[str, Any]], Mapping[str, Any]],
           timeout: float = TIMEOUT) -> dict[str, Any]:
    """The group with a new definition, or with the reasons why the definition
    was refused.

    :param revised: returns the new definition for the current one
    :param timeout: seconds for the plan
    :raises Refused: the API refuses the new definition
    """
    return change(groups, group_id, lambda before: groups.update(
        group_id, revised(before['definition']), before['revision']), timeout)


def must_be_planned(revised: Mapping[str, Any], planned: bool) -> None:
    """
    :param revised: a group after a change
    :param planned: whether its definition contains the change; the reasons of
        the group may concern another change
    :raises GroupUnchanged: there is no plan for the change
    """
    if not planned:
        raise api_client.GroupUnchanged(reasons=api_client.reasons(revised))
