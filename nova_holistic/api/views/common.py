# SPDX-License-Identifier: Apache-2.0
"""Common formats of the views."""

from datetime import datetime
from typing import Any


def time(value: datetime | None) -> str | None:
    """ISO 8601 of a naive UTC time, to the second."""
    return value and value.isoformat(timespec='seconds') + 'Z'


def link(rel: str, href: str) -> dict[str, Any]:
    return {'rel': rel, 'href': href}
