# SPDX-License-Identifier: Apache-2.0
"""Reads an answer of limited size in limited time."""

from collections.abc import Callable, Iterator
import json
import re
from typing import Any

import requests

from nova_holistic.federation.errors import InvalidAnswer

_CHUNK = 2**16
"""Maximum number of bytes per read. It determines only how late a limit takes
effect."""

_NULL = re.compile(r'(?<!\\)(?:\\\\)*\\u0000')
"""A null character in JSON; an even number of backslashes before it are
escaped backslashes."""


def read_body(response: requests.Response, most: int,
              in_time: Callable[[], bool]) -> bytes:
    """The body of the answer.

    :param response: requested with ``stream``, without compression
    :param most: maximum number of bytes
    :param in_time: returns whether time is left
    :raises InvalidAnswer: the body is too large, is compressed, or does not
        end in time
    """
    found = bytearray()
    with response:
        if response.headers.get('Content-Encoding', 'identity') != 'identity':
            # A small compressed answer can be huge.
            raise InvalidAnswer('the answer is compressed')
        for chunk in _chunks(response):
            found += chunk
            if len(found) > most:
                raise InvalidAnswer(
                    f'the answer is larger than {most} bytes')
            if not in_time():
                raise InvalidAnswer('the answer does not end in time')
    return bytes(found)


def parse_body(body: bytes) -> Any:
    """The document of a body.

    :raises InvalidAnswer: the body is not JSON, or has text that no database
        stores: half of a surrogate pair, or a null character
    """
    try:
        text = body.decode()
        found = json.loads(text)
        if '\\u' in text:
            # Only escapes can write such text.
            written = json.dumps(found, ensure_ascii=False)
            written.encode()
            if _NULL.search(written):
                raise InvalidAnswer('the answer has a null character')
    except (ValueError, RecursionError):
        raise InvalidAnswer('the answer is not JSON') from None
    return found


def _chunks(response: requests.Response) -> Iterator[bytes]:
    # Each iteration reads the socket once. Other methods wait for a whole
    # chunk, and a child could send one byte at a time.
    while chunk := response.raw.read1(_CHUNK, decode_content=False):
        yield chunk
