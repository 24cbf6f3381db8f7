# SPDX-License-Identifier: Apache-2.0
"""Sends HTTP requests to a child with the credentials of a user."""

from collections.abc import Collection
from dataclasses import dataclass
import functools
import json
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
import requests
import urllib3

from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.errors import ChildUnreachable, InvalidAnswer
from nova_holistic.federation.http import answers
from nova_holistic.federation.http.bounded_answer import (
    parse_body, read_body)
from nova_holistic.federation.http.child_request import ChildRequest
from nova_holistic.federation.http.traffic import Traffic

_FORBIDDEN = (401, 403)
_CHANGED = 412
_LIMITS = ('holistic.over_limit', 'holistic.over_quota')
"""Codes of errors with the status 403 for requests of users with all rights,
which exceed a limit of their project."""
_UNAVAILABLE = (408, 425, 429, 500, 502, 503, 504)
"""HTTP statuses of a service that cannot work now, and of its proxies."""
_UNREADABLE = (ks_exceptions.ClientException, requests.RequestException,
               urllib3.exceptions.HTTPError, OSError)
"""Errors of the connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response.

    :ivar status: HTTP status
    :ivar document: None: the body is empty, or is the body of an error and not
        JSON
    """

    status: int
    document: Any


class Exchange:
    """Sends requests to one child with the credentials of one user.

    :ivar child: name of the child
    :ivar identity: identifies the user, so that only equal requests of the
        same user share an answer
    :ivar traffic: Traffic with the child
    """

    def __init__(self, child: str, adapter: Adapter, traffic: Traffic,
                 identity: str):
        self.child = child
        self.identity = identity
        self.traffic = traffic
        self._adapter = adapter

    def send(self, request: ChildRequest,
             expected: Collection[int] = (200,)) -> Answer | Refusal:
        """Send a request. A failure is a Refusal.

        :param expected: statuses that are answers; any other is a Refusal, and
            so is an error without an error document of the API
        :raises InvalidAnswer: the answer is too large, is compressed, does not
            end in time, or is not JSON
        """
        seconds = request.wait + self.traffic.limits.seconds
        try:
            answer = self.traffic.call(
                lambda: self._answer(request, seconds), seconds)
        except ks_exceptions.ConnectionError as error:
            return self._refusal(RefusalKind.UNREACHABLE, error)
        except (ks_exceptions.Unauthorized, ks_exceptions.Forbidden,
                ks_exceptions.AuthorizationFailure,
                ks_exceptions.AuthPluginException,
                ks_exceptions.CatalogException) as error:
            # The identity service of the child refuses the user.
            return self._refusal(RefusalKind.FORBIDDEN, error)
        except (*_UNREADABLE, ChildUnreachable) as error:
            return self._refusal(RefusalKind.UNREACHABLE, error)
        if answer.status not in expected:
            return self._refused(answer)
        if answer.status >= 400 and not has_error(answer.document):
            # A proxy has answered, for example while the child is replaced.
            return self.unreachable(
                f'HTTP status {answer.status} without an error of the API')
        return answer

    def project_id(self) -> str | None | Refusal:
        """The project of the credentials in the child; None: not known."""
        try:
            return self._adapter.get_project_id()
        except _UNREADABLE as error:
            return self._refusal(RefusalKind.UNREACHABLE, error)

    def _answer(self, request: ChildRequest, seconds: float) -> Answer:
        limits, end = self.traffic.limits, self.traffic.timer() + seconds
        data = b'' if request.body is None else json.dumps(
            request.body).encode()
        # A redirection could send the token of the user to another server.
        send = functools.partial(
            self._adapter.request, request.path, request.method,
            data=data or None, headers=_headers(request, bool(data)),
            raise_exc=False, redirect=False, log=False, stream=True,
            connect_retries=0)
        try:
            response = send(timeout=seconds)
        except ks_exceptions.ConnectFailure as error:
            left = end - self.traffic.timer()
            if request.method != 'GET' or left <= 0 or not _closed(error):
                raise
            response = send(timeout=left)
        body = read_body(response, limits.most_bytes,
                         lambda: self.traffic.timer() < end)
        self.traffic.count(len(data), len(body))
        if not body:
            return Answer(response.status_code, None)
        if response.status_code >= 300:
            # A proxy may have written it.
            return Answer(response.status_code, _or_none(body))
        return Answer(response.status_code, parse_body(body))

    def _refused(self, answer: Answer) -> Refusal:
        over_limit = any(has_error(answer.document, code) for code in _LIMITS)
        kind = (RefusalKind.UNKNOWN if over_limit
                else RefusalKind.DENIED if answer.status == 403 and has_error(
                    answer.document)
                else RefusalKind.FORBIDDEN if answer.status in _FORBIDDEN
                else RefusalKind.UNREACHABLE if answer.status in _UNAVAILABLE
                else RefusalKind.CHANGED if answer.status == _CHANGED
                else RefusalKind.INVALID)
        return Refusal(self.child, kind, tuple(
            answers.reason(self.child, '', text)
            for text in _details(answer.document)
            or [f'HTTP status {answer.status}']))

    def _refusal(self, kind: RefusalKind, error: Exception) -> Refusal:
        # The text of the error may contain addresses.
        text = {RefusalKind.FORBIDDEN: 'the cloud does not accept the user',
                RefusalKind.UNREACHABLE: 'the cloud does not answer'}[kind]
        reason = answers.reason(self.child, '', f'{text}: {error}')
        public = f'cloud {self.child}: {text}'
        return Refusal(self.child, kind, (
            type(reason)('', reason.message, public=public),))

    def unreachable(self, text: str) -> Refusal:
        """The refusal of a child that does not answer."""
        return self._refusal(
            RefusalKind.UNREACHABLE, ChildUnreachable(text))

    def invalid(self, error: Exception) -> Refusal:
        """The refusal for an answer that is not the document of the API."""
        return Refusal(self.child, RefusalKind.INVALID, (answers.reason(
            self.child, '', f'invalid answer: {error}'),))


def _headers(request: ChildRequest, has_body: bool) -> dict[str, str]:
    return {'Accept': 'application/json', 'Accept-Encoding': 'identity',
            'OpenStack-API-Version': f'holistic {request.version}',
            **({'Content-Type': 'application/json'} if has_body else {}),
            **request.headers}


def _closed(error: ks_exceptions.ConnectFailure) -> bool:
    """Whether the child closed the connection without an answer. A child may
    close an idle connection at the moment of the next request."""
    cause = error.__context__
    return isinstance(cause, requests.ConnectionError) and any(
        isinstance(each, urllib3.exceptions.ProtocolError)
        for each in cause.args)


def _or_none(body: bytes) -> Any:
    try:
        return parse_body(body)
    except InvalidAnswer:
        return None


def has_error(document: Any, code: str = 'holistic.') -> bool:
    """Whether the body of a response is an error document of the API.

    :param code: beginning of the code of its first error
    """
    try:
        return str(document['errors'][0]['code']).startswith(code)
    except (KeyError, TypeError, IndexError):
        return False


def _details(document: Any) -> list[str]:
    """The messages of an error document of the API."""
    try:
        return [str(each['detail']) for each in document['errors'][:100]]
    except (KeyError, TypeError, IndexError):
        return []
