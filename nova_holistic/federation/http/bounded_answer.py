# SPDX-License-Identifier: Apache-2.0
"""Read an answer of limited size in limited time."""

from collections.abc import Callable, Iterator
import json
from typing import Any

import requests

from nova_holistic.federation.errors import InvalidAnswer

_CHUNK = 2**16
"""Bytes per read: it determines only how late a limit takes effect."""


def read_body(response: requests.Response, most: int,
              in_time: Callable[[], bool]) -> bytes:
    """The body of the answer.

    :param response: requested with ``stream``, without compression
    :param most: bytes
    :param in_time: whether to continue
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
    """
    :raises InvalidAnswer: the body is not JSON
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidAnswer('the answer is not JSON') from None


def _chunks(response: requests.Response) -> Iterator[bytes]:
    # One read of the socket each: other methods wait for whole chunks, and a
    # child could send a byte at a time.
    while chunk := response.raw.read1(_CHUNK, decode_content=False):
        yield chunk
