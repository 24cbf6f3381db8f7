# SPDX-License-Identifier: Apache-2.0
"""A create that is repeated with its key is the same create.

A unique key in the table decides between two that are made at once. The key
is free again once its group is deleted.
"""

import hashlib
import json
import re
from typing import Any

import webob

from nova_holistic.api.call import Service
from nova_holistic.api.errors import ApiError
from nova_holistic.table.records import GroupRecord

HEADER = 'Idempotency-Key'
PATTERN = r'[\x20-\x7e]{1,255}'


def key_of(request: webob.Request) -> str | None:
    """:raises ApiError: 400, it is none"""
    key = request.headers.get(HEADER)
    if key is not None and not re.fullmatch(PATTERN, key):
        raise ApiError(400, 'invalid_header',
                       f'{HEADER} must be 1 to 255 printable ASCII '
                       f'characters')
    return key


def fingerprint(body: Any) -> str:
    """The same of any two bodies that say the same, whatever the order of
    their keys."""
    text = json.dumps(body, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()


def the_same(service: Service, project_id: str, key: str | None,
             body: Any) -> GroupRecord | None:
    """The group that this create has made already; None where there is none.

    :raises ApiError: 409, the key was used for another create
    """
    if key is None:
        return None
    found = service.table.listing.by_idempotency_key(project_id, key)
    if found is not None and found.fingerprint != fingerprint(body):
        raise ApiError(409, 'idempotency_key_used',
                       f'{HEADER} was used for another body, of group '
                       f'{found.uuid}')
    return found
