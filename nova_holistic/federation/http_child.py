# SPDX-License-Identifier: Apache-2.0
"""A child over HTTP: its answers are documents from an untrusted source."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
import json
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from nova_holistic.documents.page_links import place_of_next_page
from nova_holistic.documents.servers.positions import server_positions
from nova_holistic.documents.validation import validator
from nova_holistic.federation.child import (
    ChildGroup, Document, KnownGroup, Offer, Refusal, RefusalKind)
from nova_holistic.federation.errors import InvalidAnswer
from nova_holistic.federation.http import answers, hidden_group, schemas
from nova_holistic.federation.http.change_requests import (
    ACTIONS, ChangeRequests, FIRST, MISSING_OR_CONFLICT, never_raises,
    NOT_FOUND, POLL, wait_seconds)
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.exchange import Answer, Exchange
from nova_holistic.federation.http.member_count import member_count
from nova_holistic.model.plan import Reason

KEYS = '1.3'
"""The first version of the API that shows idempotency keys."""
CLOUDS = '1.3'
"""The first version in which a parent shows the clouds of members."""

MOST_PAGES = 100
"""Maximum number of pages of a list. A page of a child has up to 1000 groups.
"""

T = TypeVar('T')


class HttpChild(ChangeRequests):
    """Implements ``child.Child`` for one user.

    :ivar exchange: Exchange with the child
    """

    def __init__(self, name: str, exchange: Exchange,
                 clock: Callable[[], datetime], offer_lifetime: float = 60.0,
                 known: KnownGroup | None = None):
        """
        :param clock: returns naive UTC
        :param offer_lifetime: seconds for which an offer is used
        :param known: group of the requests, if it is known. That the child
            does not show it proves its absence only for credentials of its
            project, because the API hides groups of other projects
        """
        self.name = name
        self.exchange = exchange
        self._clock = clock
        self._lifetime = offer_lifetime
        self._known = known

    def offer(self, document: Document, objective: str | None,
              seconds: float,
              extras: Collection[str] = ()) -> Offer | Refusal:
        """See ``Child.offer``."""
        body = _given(group=document, objective=objective,
                      **dict.fromkeys(extras, True))
        return self._shared('plan', body, lambda: self._offer(body, seconds))

    @never_raises
    def _offer(self, body: Mapping[str, Any],
               seconds: float) -> Offer | Refusal:
        if self.exchange.traffic.is_paused:
            return self.exchange.unreachable(
                'it exceeded a time limit shortly before')
        end = self.exchange.traffic.timer() + seconds
        document = body['group']
        wait = wait_seconds(seconds)
        expires = answers.expiry(self._clock(), self._lifetime)
        found = self._send(ChildRequest(
            'POST', f'/v1/plans?wait={wait}', _version(document), body,
            wait=wait), schemas.plan, expected=(201, 202))
        while not isinstance(found, Refusal) and (
                found['plan']['status'] == 'planning'):
            if self.exchange.traffic.timer() >= end:
                return Refusal(self.name, RefusalKind.UNKNOWN, (
                    answers.reason(self.name, '', f'no plan within '
                                   f'{seconds:g} s'),))
            self.exchange.traffic.pause(POLL)
            found = self._send(ChildRequest(
                'GET', '/v1/plans/' + found['plan']['id'], FIRST),
                schemas.plan)
        if isinstance(found, Refusal):
            return found
        return answers.offer(
            self.name, found['plan'], member_count(document), expires)

    def create(self, document: Document, objective: str | None, lease: int,
               key: str, seconds: float) -> ChildGroup | Refusal:
        """See ``Child.create``."""
        return self._shared('group', key, lambda: self._create(
            document, objective, lease, key, seconds))

    @never_raises
    def _create(self, document: Document, objective: str | None, lease: int,
                key: str, seconds: float) -> ChildGroup | Refusal:
        end = self.exchange.traffic.timer() + seconds
        wait = wait_seconds(seconds)
        found = self._send(ChildRequest(
            'POST', f'/v1/groups?wait={wait}', _version(document),
            _given(group=document, objective=objective, lease=lease),
            {'Idempotency-Key': key}, wait),
            schemas.group, expected=(201, 202))
        if isinstance(found, Refusal):
            return found
        return self._created(found['group'], end)

    def _created(self, group: Mapping[str, Any],
                 end: float) -> ChildGroup | Refusal:
        """The created group when no engine of the child works on it, or at the
        time limit.

        If the child refuses to show it, for example because the token of the
        user has expired, the result is the former answer, with the reasons of
        the refusal: the group exists, and may have to be deleted.

        :param end: time limit on the timer of the exchange
        """
        refused: tuple[Reason, ...] = ()
        while group['task'] is not None and not refused and (
                self.exchange.traffic.timer() < end):
            self.exchange.traffic.pause(POLL)
            found = self._send(ChildRequest(
                'GET', '/v1/groups/' + group['id'], FIRST), schemas.group)
            if not isinstance(found, Refusal):
                group = found['group']
            elif found.kind is RefusalKind.UNREACHABLE:
                return found
            else:
                refused = found.reasons
        shown = answers.group(self.name, group)
        return replace(shown, reasons=refused) if refused else shown

    @never_raises
    def find(self, key: str, name: str) -> ChildGroup | None | Refusal:
        """See ``Child.find``."""
        query, seen = {'name': name}, set()
        for _ in range(MOST_PAGES):
            page = self._send(ChildRequest(
                'GET', '/v1/groups?' + urlencode(query), KEYS),
                schemas.groups)
            if isinstance(page, Refusal):
                return page
            for each in page['groups']:
                if each.get('idempotency_key') == key:
                    return answers.group(self.name, each)
            last = page['groups'] and page['groups'][-1]['id']
            if not page.get('groups_links') or last in seen:
                return None
            seen.add(last)
            query = {'name': name, 'marker': last,
                     **place_of_next_page(page['groups_links'])}
        raise InvalidAnswer(f'the list has more than {MOST_PAGES} pages')

    @never_raises
    def show(self, group_uuid: str) -> ChildGroup | None | Refusal:
        """See ``Child.show``."""
        path = '/v1/groups/' + quote(group_uuid, safe='')
        found = self._send(ChildRequest('GET', path, FIRST), schemas.group,
                           missing=NOT_FOUND)
        if found is None or isinstance(found, Refusal):
            return found
        _must_be(found['group']['id'], group_uuid)
        members = self._send(ChildRequest(
            'GET', f'{path}/placements', CLOUDS),
            schemas.placements, missing=NOT_FOUND)
        if members is None or isinstance(members, Refusal):
            return members
        return answers.group(self.name, found['group'], members['placements'])

    @never_raises
    def extend(self, group_uuid: str,
               seconds: int) -> ChildGroup | None | Refusal:
        """See ``Child.extend``."""
        path = f'/v1/groups/{quote(group_uuid, safe="")}/extend'
        found = self._unless_busy(group_uuid, lambda: self._send(
            ChildRequest('POST', path, FIRST,
                         {'extend': {'seconds': seconds}}),
            schemas.group, missing=MISSING_OR_CONFLICT))
        if found is None or isinstance(found, Refusal):
            return found
        _must_be(found['group']['id'], group_uuid)
        return answers.group(self.name, found['group'])

    @never_raises
    def release(self, group_uuid: str,
                members: Sequence[str] | None) -> Refusal | None:
        """See ``Child.release``."""
        found = self._answered(ChildRequest(
            'POST', f'/v1/groups/{quote(group_uuid, safe="")}/release',
            FIRST, {'release': _given(
                members=None if members is None else list(members))}),
            expected=(200, 404))
        return found if isinstance(found, Refusal) else None

    @never_raises
    def delete(self, group_uuid: str) -> Refusal | None:
        """See ``Child.delete``."""
        found = self._answered(ChildRequest(
            'DELETE', '/v1/groups/' + quote(group_uuid, safe=''), FIRST),
            expected=(204, 404))
        return found if isinstance(found, Refusal) else None

    def _send(self, request: ChildRequest, schema: validator,
              expected: Collection[int] = (200,),
              missing: Collection[int] = ()) -> Any:
        """The document of the answer, a Refusal, or None for the statuses
        ``missing``."""
        found = self._answered(request, (*expected, *missing))
        if isinstance(found, Answer):
            if found.status in missing:
                return None
            schema(found.document)
            return found.document
        return found

    def _answered(self, request: ChildRequest,
                  expected: Collection[int]) -> Answer | Refusal:
        """The answer, or a Refusal also for a status of 404 that does not
        prove that the group is gone."""
        found = self.exchange.send(request, expected)
        if self._known is not None and isinstance(found, Answer) and (
                found.status == 404):
            return hidden_group.refusal(self.exchange, self._known) or found
        return found

    def _shared(self, what: str, request: Any, work: Callable[[], T]) -> T:
        key = json.dumps([self.exchange.identity, what, request],
                         sort_keys=True)
        return self.exchange.traffic.share(key, work)


def _must_be(found: str, wanted: str) -> None:
    if found != wanted:
        raise InvalidAnswer('the answer is about another group')


def _version(document: Document) -> str:
    return ACTIONS if any(server_positions(dict(document))) else FIRST


def _given(**values: Any) -> Mapping[str, Any]:
    return {name: value for name, value in values.items()
            if value is not None}
