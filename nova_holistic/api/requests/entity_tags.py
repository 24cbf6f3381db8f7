# SPDX-License-Identifier: Apache-2.0
"""Revisions of a group, and entity tags.

An entity tag is derived from the representation, so that two different
answers never share one. It begins with the revision of the group's definition:
a change is refused if the definition has changed, and not if only the status
of the group has changed.
"""

import hashlib
import re

import webob

from nova_holistic.api.errors import ApiError
from nova_holistic.table.records import GroupRecord

HEADER = 'If-Match'
PATTERN = ('("[0-9]{1,9}"|'
           '(W/)?"[0-9]{1,9}-[0-9a-f]{1,64}(-[a-z]{1,8})?")')
"""A revision, or the entity tag of a response. A proxy that compresses a
response declares its tag weak, or appends the name of the coding."""

_KNOWN = re.compile('"([^"]*)"')
"""An entity tag in a list, without the mark of a weak one."""
_DIGITS = 32


def tag(response: webob.Response, revision: int) -> webob.Response:
    """The response with its entity tag."""
    response.headers['ETag'] = f'"{revision}-{_digest(response.body)}"'
    return response


def conditional(request: webob.Request,
                response: webob.Response) -> webob.Response:
    """The response to a GET, or 304 if the client has the same representation
    already.

    A response gets an entity tag if it has none.
    """
    if response.etag is None:
        response.headers['ETag'] = f'"{_digest(response.body)}"'
    if not _is_known(request, response.etag):
        return response
    unchanged = webob.Response(status=304)
    del unchanged.content_type
    unchanged.headers['ETag'] = response.headers['ETag']
    return unchanged


def _is_known(request: webob.Request, entity_tag: str) -> bool:
    # WebOb reads only the first of several tags without spaces between them.
    known = request.headers.get('If-None-Match', '').strip()
    return known == '*' or entity_tag in _KNOWN.findall(known)


def must_match(request: webob.Request, record: GroupRecord,
               required: bool = False) -> int | None:
    """The revision that the request names; None if it names none. The group
    may be changed after this check: the change that the request causes has to
    be conditional on this revision.

    :param required: whether the request must name a revision
    :raises ApiError: 428, the request names no revision; 400, it names an
        invalid revision; 412, the group has another revision
    """
    text = request.headers.get(HEADER)
    if text is None:
        if required:
            raise ApiError(
                428, 'revision_required',
                f"{HEADER} is missing: send the group's revision in quotes, "
                f'such as "1", or its ETag')
        return None
    if not re.fullmatch(PATTERN, text.strip()):
        raise ApiError(
            400, 'invalid_header',
            f"{HEADER} must be the group's revision in quotes, such as "
            f'"1", or its ETag')
    revision = int(text.strip().removeprefix('W/')[1:-1].partition('-')[0])
    if revision != record.revision:
        raise stale(request, record, record.revision, revision)
    return revision


def stale(request: webob.Request, record: GroupRecord, present: int,
          revision: int | None = None) -> ApiError:
    """412 if the client named a revision; otherwise 409, because of a
    simultaneous change."""
    return ApiError(
        412 if HEADER in request.headers else 409, 'stale_revision',
        f'group {record.uuid} is at revision {present}, not '
        f'{record.revision if revision is None else revision}')


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:_DIGITS]
