# SPDX-License-Identifier: Apache-2.0
"""Revisions of a group, as entity tags.

A tag is of the definition, not of the whole answer: a status that changes
does not change it.
"""

import re

import webob

from nova_holistic.api.errors import ApiError

HEADER = 'If-Match'
PATTERN = '"[0-9]{1,9}"'


def tag(revision: int) -> str:
    return f'"{revision}"'


def demanded(request: webob.Request) -> int:
    """The revision that the request is for.

    :raises ApiError: 400, it does not say
    """
    text = request.headers.get(HEADER, '')
    if not re.fullmatch(PATTERN, text.strip()):
        raise ApiError(
            400, 'invalid_header',
            f'{HEADER} must be the revision in quotes, as the group\'s ETag '
            f'has it, such as {tag(1)}')
    return int(text.strip()[1:-1])


def stale(group_uuid: str, revision: int, present: int) -> ApiError:
    return ApiError(409, 'stale_revision',
                    f'group {group_uuid} is at revision {present}, not '
                    f'{revision}')
