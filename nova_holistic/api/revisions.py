# SPDX-License-Identifier: Apache-2.0
"""Revisions of a group, as entity tags.

A tag is of the definition, not of the whole answer: a status that changes
does not change it.
"""

import re

import webob

from nova_holistic.api.errors import ApiError
from nova_holistic.table.records import GroupRecord

HEADER = 'If-Match'
PATTERN = '"[0-9]{1,9}"'


def tag(revision: int) -> str:
    return f'"{revision}"'


def must_match(request: webob.Request, record: GroupRecord,
               required: bool = False) -> None:
    """
    :param required: whether the request has to say which revision it is for
    :raises ApiError: 400, it does not say; 409, another revision is there
    """
    text = request.headers.get(HEADER)
    if text is None and not required:
        return
    if not re.fullmatch(PATTERN, (text or '').strip()):
        raise ApiError(
            400, 'invalid_header',
            f"{HEADER} must be the revision in quotes, as the group's ETag "
            f'has it, such as {tag(1)}')
    revision = int(text.strip()[1:-1])
    if revision != record.revision:
        raise stale(record.uuid, revision, record.revision)


def stale(group_uuid: str, revision: int, present: int) -> ApiError:
    return ApiError(409, 'stale_revision',
                    f'group {group_uuid} is at revision {present}, not '
                    f'{revision}')
