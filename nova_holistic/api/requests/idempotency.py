# SPDX-License-Identifier: Apache-2.0
"""A create request that is repeated with its key creates no second group.

A unique key in the table decides between two simultaneous requests. The key
becomes available again after its group is deleted.
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
    """:raises ApiError: 400, the key is invalid"""
    key = request.headers.get(HEADER)
    if key is not None and not re.fullmatch(PATTERN, key):
        raise ApiError(400, 'invalid_header',
                       f'{HEADER} must be 1 to 255 printable ASCII '
                       f'characters')
    return key


def fingerprint(body: Any) -> str:
    """A hash of the body that does not depend on the order of keys."""
    text = json.dumps(body, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()


def find_repeated(service: Service, project_id: str, key: str | None,
                  body: Any) -> GroupRecord | None:
    """The group that an earlier request with this key created; None if none
    exists.

    :raises ApiError: 409, the key was used for a different request
    """
    if key is None:
        return None
    record = service.table.listing.by_idempotency_key(project_id, key)
    if record is not None and record.fingerprint != fingerprint(body):
        raise ApiError(409, 'idempotency_key_used',
                       f'{HEADER} was used for another body, of group '
                       f'{record.uuid}')
    return record
