# SPDX-License-Identifier: Apache-2.0
"""Errors of the API, in the format of the OpenStack API guidelines.

{"errors": [{"status", "request_id", "code", "title", "detail"}]}
"""

from collections.abc import Mapping
import http
import math
from typing import Any

from nova_holistic.documents.validation import brief
from nova_holistic import exceptions
from nova_holistic.federation import errors as federation_errors
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory import errors as inventory_errors
from nova_holistic.messaging import errors as engine_errors
from nova_holistic.table import errors as table_errors
from nova_holistic.topology import errors as topology_errors


_MAX_NAME = 255
"""Maximum length of a name that an error repeats in full."""


class ApiError(exceptions.HolisticError):
    """The request is refused with this status, for this reason.

    :param code: the code on which programs may rely, without its prefix
    :param headers: headers of the response
    :ivar rule: the policy rule that denies the request, for the log
    :ivar details: one message per mistake
    """

    def __init__(self, status: int, code: str, detail: str,
                 headers: Mapping[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.rule: str | None = None
        self.details = [detail]


def not_found(resource: str, name: str) -> ApiError:
    """The error for a missing record and for a record of another project."""
    shown = name if name.isprintable() and len(name) <= _MAX_NAME else (
        brief(name))
    return ApiError(404, 'not_found', f'there is no {resource} {shown}')


def forbidden(rule: str, place: str = '', hint: str = '') -> ApiError:
    """
    :param place: position in the body, e.g. ``groups[1].policies[0].level``
    :param hint: what is allowed without that rule
    """
    error = ApiError(403, 'forbidden', ''.join((
        f'{place}: ' if place else '', f'policy does not allow {rule}',
        f'; {hint}' if hint else '')))
    error.rule = rule
    return error


def invalid_query(error: exceptions.InvalidDocument) -> ApiError:
    """A parameter of the query is invalid."""
    return _api_error(error, 400, 'invalid_query')


def conflict(detail: str) -> ApiError:
    """The request contradicts the state of the group."""
    return ApiError(409, 'conflict', detail)


_KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (topology_errors.InvalidFile, 503, 'inventory_unavailable'),
    (exceptions.InvalidDocument, 400, 'invalid_document'),
    (exceptions.UnknownPlugin, 400, 'invalid_document'),
    (table_errors.GroupUnknown, 404, 'not_found'),
    (table_errors.MemberUnknown, 400, 'unknown_member'),
    (engine_errors.HostUnknown, 404, 'not_found'),
    (engine_errors.GroupBusy, 409, 'conflict'),
    (engine_errors.StaleRevision, 412, 'stale_revision'),
    (engine_errors.LeaseRefused, 409, 'conflict'),
    (engine_errors.BindingRefused, 409, 'conflict'),
    (engine_errors.EngineUnreachable, 503, 'engine_unavailable'),
    (federation_errors.ChildUnknown, 404, 'not_found'),
    (federation_errors.NotOffered, 400, 'not_offered'),
    (federation_errors.CredentialRefused, 400, 'credential_refused'),
    (federation_errors.ChildFailed, 503, 'child_failed'),
    (federation_errors.MemberNotBuilt, 409, 'conflict'),
    (federation_errors.InvalidParents, 400, 'invalid_header'),
    (federation_errors.ParentsRefused, 400, 'parents_refused'),
    (federation_errors.ChildUnreachable, 503, 'child_unavailable'),
    (table_errors.TableError, 503, 'database_unavailable'),
    (hold_errors.HoldsError, 503, 'placement_unavailable'),
    (inventory_errors.ServiceFailed, 503, 'inventory_unavailable'),
)
"""Status and code of every error of this project that a client may receive."""

_UNAVAILABLE = 503

_INSTEAD = {
    'engine_unavailable': 'no engine responded; try again later',
    'child_unavailable': 'the cloud is unavailable; try again later',
    'database_unavailable': 'the database is unavailable; try again later',
    'placement_unavailable': 'Placement is unavailable; try again later',
    'inventory_unavailable': 'the inventory is unavailable; try again later'}
"""Messages for clients about errors whose own messages are for operators."""


def from_exception(error: Exception, retry_after: float) -> ApiError | None:
    """Convert an error to its response; None if it is an internal error.

    :param retry_after: seconds after which the client may retry
    """
    if not isinstance(error, ApiError):
        error = next((
            _api_error(error, status, code)
            for kind, status, code in _KINDS if isinstance(error, kind)),
            None)
    if error is not None and error.status == _UNAVAILABLE:
        return with_retry_after(error, retry_after)
    return error


def with_retry_after(error: ApiError, retry_after: float) -> ApiError:
    """The error of an unavailable service, with its header.

    :param retry_after: seconds after which the client may retry
    """
    error.headers['Retry-After'] = str(math.ceil(retry_after))
    return error


def _api_error(error: Exception, status: int, code: str) -> ApiError:
    api_error = ApiError(status, code, _INSTEAD.get(code, str(error)))
    if code not in _INSTEAD and isinstance(error, exceptions.InvalidDocument):
        api_error.details = [str(mistake) for mistake in error.mistakes]
    return api_error


def document(error: ApiError, request_id: str) -> dict[str, Any]:
    """The body of the response to an error."""
    return {'errors': [{
        'status': error.status, 'request_id': request_id,
        'code': f'holistic.{error.code}',
        'title': http.HTTPStatus(error.status).phrase,
        'detail': detail} for detail in error.details]}
