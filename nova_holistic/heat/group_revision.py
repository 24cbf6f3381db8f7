# SPDX-License-Identifier: Apache-2.0
"""Changes of the definition of a group, which other operations may change at
the same time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    return _change(groups, group_id, request, timeout)[1]


def _change(groups: Groups, group_id: str,
            request: Callable[[Mapping[str, Any]], Any], timeout: float
            ) -> tuple[dict[str, Any], dict[str, Any]]:
    """The group before and after a change."""
    for last in [False] * (_ATTEMPTS - 1) + [True]:
        before = groups.wait(group_id)
        try:
            request(before)
            break
        except Refused as error:
            if last or error.status not in _CHANGED:
                raise
    return before, groups.wait(group_id, timeout)


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


def replace(groups: Groups, group_id: str, document: Mapping[str, Any],
            timeout: float) -> None:
    """Replace the definition of the group.

    :param timeout: seconds for the plan
    :raises GroupUnchanged: there is no plan for the new definition
    :raises Refused: the API refuses the new definition
    """
    before, after = _change(groups, group_id, lambda before: groups.update(
        group_id, document, before['revision']), timeout)
    must_be_planned(after, _is_accepted(before['revision'], after))


@dataclass(slots=True)
class Replacement:
    """A new definition of a group, which is sent when no engine works on the
    group.

    :ivar document: the new definition
    :ivar objective: None: the group keeps its objective
    :ivar former: digest of the definition that the group had before, if it is
        known
    :ivar lease: seconds for which the places of new members are held; None:
        the default of the operator
    :ivar attempts: number of requests that the API refused because the group
        had changed
    :ivar replaced: revision of the group for which the API accepted the
        request
    """

    document: Mapping[str, Any]
    objective: str | None
    former: str | None
    lease: int | None = None
    attempts: int = 0
    replaced: int | None = None

    def is_complete(self, groups: Groups, group_id: str) -> bool:
        """Send the definition, or look whether the group has it already.

        :raises GroupUnchanged: there is no plan for the definition
        :raises Refused: the API refuses the definition
        """
        current = api_client.polled(lambda: groups.get(group_id))
        if current is None or current['task'] is not None:
            return False
        if self.replaced is None:
            self._send(groups, group_id, current['revision'])
            return False
        must_be_planned(current, _is_accepted(self.replaced, current))
        if self.lease and current['members'].get('planned'):
            # New members have the default lease of the operator.
            return self._accepts(lambda: groups.extend(group_id, self.lease))
        return True

    def _send(self, groups: Groups, group_id: str, revision: int) -> None:
        if self._accepts(lambda: groups.update(
                group_id, self.document, revision, objective=self.objective)):
            self.replaced = revision

    def _accepts(self, request: Callable[[], Any]) -> bool:
        """Whether the API accepts a request. Otherwise the group has changed,
        and the request may be repeated."""
        try:
            request()
        except Refused as error:
            self.attempts += 1
            if error.status not in _CHANGED or self.attempts == _ATTEMPTS:
                raise
            return False
        return True


def _is_accepted(replaced: int, group: Mapping[str, Any]) -> bool:
    """Whether the group has a new definition. A group may have reasons
    nevertheless, for example if fewer servers than desired fit.

    :param replaced: revision of the group before
    """
    return group['revision'] != replaced


def must_be_planned(revised: Mapping[str, Any], planned: bool) -> None:
    """
    :param revised: a group after a change
    :param planned: whether its definition contains the change; the reasons of
        the group may concern another change
    :raises GroupUnchanged: there is no plan for the change
    """
    if not planned:
        raise api_client.GroupUnchanged(reasons=api_client.reasons(revised))
