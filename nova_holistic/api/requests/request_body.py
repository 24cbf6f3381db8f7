# SPDX-License-Identifier: Apache-2.0
"""Parse the body of a request into plain data, or explain the error in one
sentence.

The parser is stricter than JSON: it rejects a document that two parsers could
interpret differently, for example with a duplicate key.
"""

from collections.abc import Iterator
import json
import math
import re
from typing import Any

import webob
from webob import exc

from nova_holistic.api.errors import ApiError
from nova_holistic.documents.validation import brief

MEDIA_TYPE = 'application/json'
OFFERS = (MEDIA_TYPE, f'{MEDIA_TYPE};charset=utf-8',
          f'{MEDIA_TYPE};charset=UTF-8')
"""Media types of responses. JSON has no parameters, but some clients name its
encoding."""
MAX_DIGITS = 64
"""Maximum length of a number: the time to parse it grows with the square of
its length."""
MAX_PARTS = 500_000
"""Maximum number of commas and brackets: empty lists take fifty times the
memory of their text. The limit allows fifty for each member of the largest
group."""

_HALF = re.compile('[\ud800-\udfff]')


def read(request: webob.Request, longest: int, deepest: int) -> Any:
    """
    :param longest: maximum size in bytes
    :param deepest: maximum number of lists and objects around a value
    :raises ApiError: 400, 413 or 415
    """
    # Media types do not depend on case, and spaces may precede parameters.
    if request.content_type.strip().lower() != MEDIA_TYPE:
        raise ApiError(
            415, 'unsupported_media_type',
            f'the body must be {MEDIA_TYPE}, not '
            f'{brief(request.content_type)}' if request.content_type else
            f'the header Content-Type must be {MEDIA_TYPE}; it is missing')
    return parse(_bytes(request, longest), deepest)


def parse(raw: bytes, deepest: int) -> Any:
    """:raises ApiError: 400"""
    if sum(map(raw.count, (b',', b'[', b'{'))) > MAX_PARTS:
        raise _bad(f'has more than {MAX_PARTS} commas and brackets')
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise _bad(f'is not UTF-8 at byte {error.start}') from None
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_constant,
            parse_int=_integer, parse_float=_finite)
    except json.JSONDecodeError as error:
        # Some messages of this parser already end with "at".
        message = error.msg.removesuffix(' at')
        raise _bad(f'is not JSON: {message} at line {error.lineno}, column '
                   f'{error.colno}') from None
    except RecursionError:
        raise _too_deep(deepest) from None
    if _depth(value, deepest) > deepest:
        raise _too_deep(deepest)
    for part in _texts(value):
        # JSON can escape half of a surrogate pair, which is not valid text.
        if _HALF.search(part):
            raise _bad(f'has half of a surrogate pair in {brief(part)}')
    return value


def _bytes(request: webob.Request, longest: int) -> bytes:
    """Read no more than the limit, even if the header states a larger
    length."""
    if (request.content_length or 0) > longest:
        raise _too_long(longest)
    try:
        raw = request.body_file.read(longest + 1)
    except OSError as error:
        # The client has closed the connection, or is slower than the server
        # allows. The server's own text differs from one server to the next.
        raise _bad('did not arrive completely in time') from error
    except exc.HTTPRequestEntityTooLarge as error:
        # The server or a proxy counts bytes and allows fewer.
        raise ApiError(413, 'body_too_large', 'the body is too long') from (
            error)
    if len(raw) > longest:
        raise _too_long(longest)
    return raw


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                raise _bad(f'has the key {brief(key)} twice in one object')
            keys.add(key)
    return mapping


def _constant(name: str) -> None:
    raise _bad(f'has {name}, which is not JSON')


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _bad(f'has a number of more than {MAX_DIGITS} digits')
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _bad(f'has a number that is too large: {brief(digits)}')
    return number


def _depth(value: Any, deepest: int) -> int:
    """The number of lists and objects around the innermost value; or, beyond
    the limit, any larger number."""
    layer, depth = [value], 0
    while depth <= deepest:
        layer = [part for part in layer if isinstance(part, dict | list)]
        if not layer:
            break
        depth += 1
        layer = [part for outer in layer for part in _within(outer)]
    return depth


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _texts(value: Any) -> Iterator[str]:
    """Every text in the value, including keys."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from part
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)


def _bad(detail: str) -> ApiError:
    return ApiError(400, 'invalid_body', f'the body {detail}')


def _too_long(longest: int) -> ApiError:
    return ApiError(413, 'body_too_large',
                    f'the body is longer than {longest} bytes')


def _too_deep(deepest: int) -> ApiError:
    return _bad(f'is nested deeper than {deepest} levels')
