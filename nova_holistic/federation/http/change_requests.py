# SPDX-License-Identifier: Apache-2.0
"""Requests that read or change an existing group in a child."""

import abc
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
import functools
from typing import Any, TypeVar
from urllib.parse import quote

from nova_holistic.documents.servers.positions import server_positions
from nova_holistic.documents.validation import validator
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.child import (
    ChildDefinition, ChildGroup, Document, Refusal, RefusalKind, UpdateTerms)
from nova_holistic.federation.errors import InvalidAnswer
from nova_holistic.federation.http import answers, schemas
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.exchange import Exchange

FIRST, DETACH, ACTIONS = '1.0', '1.1', '1.2'
"""Versions of the API: the first version, the first version that detaches
servers, and the first version that has the key ``server`` and lists actions
of servers after an update."""

NOT_FOUND = (404,)
"""Status of a group that no longer exists."""
MISSING_OR_CONFLICT = (404, 409)
"""Statuses of a group that no longer exists, whose status does not allow the
change, or on which the child works."""
_CONFLICTS = 2
"""Maximum number of requests that a conflict ends. A task may end before the
parent reads the group; the request is then repeated."""

POLL = 0.2
"""Interval in seconds between two reads of a plan that is not finished, or of
a group with a task. The child usually waits itself (``wait``)."""
_LONGEST_WAIT = 3600

T = TypeVar('T')


def wait_seconds(seconds: float) -> int:
    """The whole number of seconds for which the child should wait."""
    return min(_LONGEST_WAIT, max(0, int(seconds)))


def never_raises(method: Callable[..., T]) -> Callable[..., T | Refusal]:
    """A decorator of methods that returns a Refusal for an invalid answer."""
    @functools.wraps(method)
    def checked(self: 'ChangeRequests', *args: Any,
                **options: Any) -> T | Refusal:
        try:
            return method(self, *args, **options)
        except (InvalidAnswer, InvalidDocument) as error:
            return self.exchange.invalid(error)
    return checked


class ChangeRequests(abc.ABC):
    """Implements the methods of ``child.Child`` for changes of a group."""

    name: str
    exchange: Exchange

    @never_raises
    def definition(self,
                   group_uuid: str) -> ChildDefinition | None | Refusal:
        """See ``Child.definition``."""
        found = self._send(ChildRequest('GET', _path(group_uuid), FIRST),
                           schemas.defined_group, missing=NOT_FOUND)
        if found is None or isinstance(found, Refusal):
            return found
        group = found['group']
        if group['id'] != group_uuid:
            raise InvalidAnswer('the answer is about another group')
        return ChildDefinition(answers.group(self.name, group),
                               group['revision'], group['definition'])

    @never_raises
    def update(self, seen: ChildDefinition, document: Document,
               terms: UpdateTerms) -> ChildDefinition | None | Refusal:
        """See ``Child.update``."""
        uuid, body = seen.group.uuid, {'group': document}
        if terms.objective is not None:
            body['objective'] = terms.objective
        version = ACTIONS if terms.actions or any(
            server_positions(dict(document))) else FIRST
        done = self._unless_busy(uuid, lambda: self._changed(
            uuid, ChildRequest('PUT', _path(uuid), version, body,
                               {'If-Match': f'"{seen.revision}"'}),
            terms.seconds, missing=MISSING_OR_CONFLICT))
        if isinstance(done, Refusal):
            return done
        found = self.definition(uuid)
        if isinstance(found, ChildDefinition):
            if done is None:
                return self._conflict(seen, found)
            if found.revision == seen.revision:
                return self._not_accepted(found.group)
        return found

    @never_raises
    def replan(self, group_uuid: str,
               seconds: float) -> ChildGroup | None | Refusal:
        """See ``Child.replan``."""
        return self._unless_busy(group_uuid, lambda: self._changed(
            group_uuid, ChildRequest(
                'POST', _path(group_uuid, '/replan'), FIRST, {'replan': {}}),
            seconds, missing=MISSING_OR_CONFLICT))

    @never_raises
    def propose_repair(self, group_uuid: str
                       ) -> Mapping[str, Any] | None | Refusal:
        """See ``Child.propose_repair``."""
        found = self._unless_busy(group_uuid, lambda: self._send(
            ChildRequest('POST', _path(group_uuid, '/repair'), FIRST,
                         {'repair': {'apply': False}}),
            schemas.repair, missing=MISSING_OR_CONFLICT))
        if found is None or isinstance(found, Refusal):
            return found
        return found['repair']

    @never_raises
    def repair(self, group_uuid: str,
               seconds: float) -> ChildGroup | None | Refusal:
        """See ``Child.repair``."""
        return self._unless_busy(group_uuid, lambda: self._changed(
            group_uuid, ChildRequest(
                'POST', _path(group_uuid, '/repair'), FIRST,
                {'repair': {'apply': True}}),
            seconds, missing=MISSING_OR_CONFLICT))

    @never_raises
    def detach(self, group_uuid: str, path: str) -> Refusal | None:
        """See ``Child.detach``."""
        found = self._send(ChildRequest(
            'POST', _path(group_uuid, '/detach'), DETACH,
            {'detach': {'member': path}}), schemas.group)
        return found if isinstance(found, Refusal) else None

    def _conflict(self, seen: ChildDefinition,
                  found: ChildDefinition) -> Refusal:
        """The refusal of an update that ended with a conflict.

        :param found: the group after the conflict
        """
        if found.revision != seen.revision:
            return Refusal(self.name, RefusalKind.CHANGED)
        return Refusal(self.name, RefusalKind.UNKNOWN, (answers.reason(
            self.name, '', f'its part is {found.group.status}: this status '
            'does not allow the change'),))

    def _not_accepted(self, group: ChildGroup) -> Refusal:
        return Refusal(
            self.name, RefusalKind.UNPLACEABLE if group.settled
            else RefusalKind.UNKNOWN, group.reasons or (answers.reason(
                self.name, '', 'the new definition was not accepted'),))

    def _changed(self, group_uuid: str, request: ChildRequest, seconds: float,
                 missing: Collection[int] = NOT_FOUND
                 ) -> ChildGroup | None | Refusal:
        """The group after the change.

        :param seconds: time limit of the change
        :param missing: statuses for which the result is None
        """
        end = self.exchange.traffic.timer() + seconds
        wait = wait_seconds(seconds)
        found = self._send(
            replace(request, path=f'{request.path}?wait={wait}', wait=wait),
            schemas.group, expected=(200, 202), missing=missing)
        while found is not None and not isinstance(found, Refusal) and (
                found['group']['task'] is not None):
            if self.exchange.traffic.timer() >= end:
                break
            self.exchange.traffic.pause(POLL)
            found = self._send(ChildRequest('GET', _path(group_uuid), FIRST),
                               schemas.group, missing=NOT_FOUND)
        if found is None or isinstance(found, Refusal):
            return found
        return answers.group(self.name, found['group'])

    def _unless_busy(self, group_uuid: str, send: Callable[[], T]
                     ) -> T | None | Refusal:
        """The answer to a request that a child refuses with 409 both if the
        status of the group does not allow it, and as long as the group has a
        task.

        :param send: sends the request; the result for 404 and 409 is None
        :returns: None: the group no longer exists, or has no task and a status
            that does not allow the request
        """
        for _ in range(_CONFLICTS):
            found = send()
            if found is not None:
                return found
            shown = self._send(ChildRequest('GET', _path(group_uuid), FIRST),
                               schemas.group, missing=NOT_FOUND)
            if shown is None or isinstance(shown, Refusal):
                return shown
            if shown['group']['task'] is not None:
                return Refusal(self.name, RefusalKind.UNKNOWN, (
                    answers.reason(self.name, '', 'the cloud works on another '
                                   'change of its part; try again'),))
        return None

    @abc.abstractmethod
    def _send(self, request: ChildRequest, schema: validator,
              expected: Collection[int] = (200,),
              missing: Collection[int] = ()) -> Any:
        """The document of the answer, a Refusal, or None for the statuses
        ``missing``."""


def _path(group_uuid: str, rest: str = '') -> str:
    return f'/v1/groups/{quote(group_uuid, safe="")}{rest}'
