# SPDX-License-Identifier: Apache-2.0
"""Reads an answer of limited size in limited time."""

from collections.abc import Callable, Iterator
import json
from typing import Any

import requests

from nova_holistic.federation.errors import InvalidAnswer

_CHUNK = 2**16
"""Maximum number of bytes per read. It determines only how late a limit takes
effect."""


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

    :raises InvalidAnswer: the body is not JSON
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidAnswer('the answer is not JSON') from None


def _chunks(response: requests.Response) -> Iterator[bytes]:
    # Each iteration reads the socket once. Other methods wait for a whole
    # chunk, and a child could send one byte at a time.
    while chunk := response.raw.read1(_CHUNK, decode_content=False):
        yield chunk
