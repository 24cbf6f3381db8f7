# SPDX-License-Identifier: Apache-2.0
"""What a client may meet."""

from typing import Any

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic import exceptions


_AWAY = (0, 502, 503, 504)
"""Statuses of services that are away, and of proxies before them."""


class Refused(exceptions.HolisticError):
    """The API said no.

    :ivar status: HTTP status; 0 where nobody answered
    :ivar code: e.g. ``holistic.invalid_document``; empty where none was told
    :ivar request_id: to find the request by in the service's logs
    """

    def __init__(self, status: int, code: str, detail: str,
                 request_id: str | None = None):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.request_id = request_id

    @property
    def passing(self) -> bool:
        """Whether somebody was away, in which case it may have been done
        nevertheless, and the same may be asked again."""
        return self.status in _AWAY


class TimedOut(exceptions.HolisticError):
    """What was waited for did not come about in time; it may still."""


def refused(error: ks_exceptions.HttpError) -> Refused:
    """The API's own words, where it found any."""
    told = _errors(error.response)
    first = told[0] if told else {}
    # One line for each mistake of a document.
    detail = '\n'.join(each['detail'] for each in told if each.get('detail'))
    return Refused(
        error.http_status, first.get('code', ''),
        detail or error.message or str(error),
        first.get('request_id') or error.request_id)


def _errors(response: Any) -> list[dict[str, Any]]:
    try:
        return [dict(each) for each in response.json()['errors']]
    except (AttributeError, ValueError, KeyError, IndexError, TypeError):
        # A proxy in between, perhaps.
        return []
