# SPDX-License-Identifier: Apache-2.0
"""The key with which a repeated create request returns the same group."""

import re

from nova_holistic.client import errors

HEADER = 'Idempotency-Key'
_PATTERN = re.compile(r'[\x20-\x7e]{1,255}')


def headers(key: str | None) -> dict[str, str]:
    """
    :param key: None means that a repeated request creates a second group
    :raises NotSent: 400, the key is empty, too long, or contains other than
        printable ASCII characters, which the API refuses and HTTP does not
        allow in headers
    """
    if key is None:
        return {}
    if not _PATTERN.fullmatch(key):
        raise errors.NotSent(400, 'holistic.invalid_header', (
            f'{HEADER} must be 1 to 255 printable ASCII characters'))
    return {HEADER: key}
