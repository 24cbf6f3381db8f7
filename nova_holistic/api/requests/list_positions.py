# SPDX-License-Identifier: Apache-2.0
"""The position of a page in a list of groups, as text in the link to the page.

The position is the value of the sort key of the last group of the previous
page, as it was listed. So a list continues after this group if the group was
deleted or changed in the meantime.
"""

import base64
from datetime import datetime
import json
from typing import Any

from nova_holistic.api import errors
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.errors import GroupUnknown
from nova_holistic.table.queries.group_page import Page
from nova_holistic.table.records import GroupRecord

_TIMES = ('created_at', 'updated_at')


def after(page: Page, last: GroupRecord) -> str | None:
    """The position after a group of the list; None if the group has no value
    of the sort key."""
    value = getattr(last, page.sort_key)
    if value is None:
        return None
    text = value.isoformat() if page.sort_key in _TIMES else str(value)
    return base64.urlsafe_b64encode(json.dumps(
        [page.project_id, page.sort_key, text]).encode()).decode().rstrip('=')


def read(text: str, page: Page) -> Any:
    """The value of the sort key in a position.

    :raises ApiError: 400, the text is not a position, or the page has no
        marker
    :raises GroupUnknown: it is the position in another list
    """
    if page.marker is None:
        raise errors.invalid_query(InvalidDocument(
            'position', 'needs the marker of the same link'))
    try:
        padded = text + -len(text) % 4 * '='
        project, key, value = json.loads(base64.urlsafe_b64decode(padded))
        if [project, key] != [page.project_id, page.sort_key]:
            raise GroupUnknown(page.marker)
        if page.sort_key not in _TIMES:
            return _stored_text(value)
        time = datetime.fromisoformat(value)
        if time.tzinfo is not None:
            raise ValueError('a time with a zone')
        return time
    except (TypeError, ValueError, RecursionError):
        raise errors.invalid_query(InvalidDocument(
            'position', 'must be that of a link to the next page')) from None


def _stored_text(value: Any) -> str:
    """:raises ValueError: the table cannot have this text"""
    # PostgreSQL stores no null character, and no database stores a surrogate.
    if not isinstance(value, str) or '\0' in value or not value.encode():
        raise ValueError('a text that is not stored')
    return value
