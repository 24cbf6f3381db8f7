# SPDX-License-Identifier: Apache-2.0
"""Errors of the client."""

from typing import Any

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic import exceptions


_UNAVAILABLE = (0, 502, 503, 504)
"""Statuses of services that are unavailable, and of proxies in front of
them."""

_TOO_MANY_REQUESTS = 429

_NOT_SENT = (ks_exceptions.CatalogException, ks_exceptions.AuthPluginException)
"""The catalog has no endpoint of the service, or the session has no
credentials."""


class Refused(exceptions.HolisticError):
    """The API refused the request, or its response is not usable.

    :ivar status: HTTP status; 0 if no service responded
    :ivar code: e.g. ``holistic.invalid_document``; empty if the response has
        none
    :ivar request_id: identifies the request in the service's logs
    :ivar retry_after: seconds after which the service expects a repetition; 0
        if the response does not state them
    """

    def __init__(self, status: int, code: str, detail: str,
                 request_id: str | None = None, retry_after: int = 0):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """Whether a service was unavailable. The request may have been
        processed nevertheless, and the client may repeat it."""
        return self.status in _UNAVAILABLE

    @property
    def is_repeatable(self) -> bool:
        """Whether a repetition may succeed: a service was unavailable, or has
        received too many requests."""
        return self.is_transient or self.status == _TOO_MANY_REQUESTS


class NotSent(Refused):
    """The request was not sent, and a repetition would not be sent either."""

    @property
    def is_transient(self) -> bool:
        return False


class TimedOut(exceptions.HolisticError):
    """The awaited state was not reached within the timeout. It may be reached
    later."""


def refused(error: ks_exceptions.HttpError) -> Refused:
    """The message of the API, if the response contains one."""
    faults = _errors(error.response)
    first = faults[0] if faults else {}
    # One line per mistake of a document.
    detail = '\n'.join(
        fault['detail'] for fault in faults if fault.get('detail'))
    return Refused(
        error.http_status, first.get('code', ''),
        detail or error.message or str(error),
        first.get('request_id') or error.request_id, retry_after(error))


def retry_after(error: ks_exceptions.HttpError) -> int:
    """Seconds; 0 if the response does not state them."""
    return max(0, error.retry_after)


def unanswered(error: ks_exceptions.ClientException) -> Refused:
    """The error of a request without a response."""
    kind = NotSent if isinstance(error, _NOT_SENT) else Refused
    return kind(0, '', str(error))


def body_of(response: Any) -> Any:
    """The parsed body of a successful response.

    :raises Refused: the body is not JSON; for example, a proxy has answered
        with a page for users
    """
    try:
        return response.json()
    except ValueError as error:
        raise Refused(
            response.status_code, '', 'the response is not JSON; check '
            f'whether the API answers at {response.url}') from error


def _errors(response: Any) -> list[dict[str, Any]]:
    try:
        return [dict(fault) for fault in response.json()['errors']]
    except (AttributeError, ValueError, KeyError, IndexError, TypeError):
        # A proxy in front of the API may have written the response.
        return []
