# SPDX-License-Identifier: Apache-2.0
"""Converts JSON into plain data of limited size."""

import json
import math
from typing import Any

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.garbage_collection import few_collections

MAX_LENGTH = 8 * 2**20
"""Maximum length of an untrusted text, in characters or bytes."""
MAX_DEPTH = 64
"""Maximum nesting of lists and mappings."""
MAX_NODES = 2_000_000
"""Maximum number of values in one document. Values that aliases repeat count
each time. In a trusted document, only these count."""
MAX_DIGITS = 64
"""Maximum length of a number; YAML can express a number whose value takes
hours to compute."""

NEW_OBJECTS = 1_000_000
"""Number of new objects between two garbage collections while JSON is read:
an inventory of 10,000 hosts has 300,000. See :func:`few_collections`."""


def load_json(text: str) -> Any:
    """One value from any source.

    :raises InvalidDocument: the text is not JSON, or exceeds a limit
    """
    try:
        if len(text) > MAX_LENGTH:
            raise ValueError('the text is too long')
        text.encode()
        return json_value(text, trusted=False)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument('', f'not JSON: {error}') from None


def json_value(text: str, trusted: bool) -> Any:
    """
    :param trusted: whether the text may have any number of values
    :raises ValueError: the text is not JSON, or exceeds a limit
    :raises RecursionError: it is nested too deeply
    """
    with few_collections(NEW_OBJECTS):
        document = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse,
            parse_int=_integer, parse_float=_finite)
        _bound(document, trusted)
    if '\\u' in text:
        # JSON can escape a lone surrogate, which text cannot contain.
        json.dumps(document, ensure_ascii=False).encode()
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError('duplicate key')
    return mapping


def _refuse(constant: str) -> None:
    raise ValueError(f'{constant} is not a number of JSON')


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError('the number is too long')
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError('the number is too large')
    return number


def _bound(document: Any, trusted: bool) -> None:
    """Apply the limits of YAML to the depth and size of JSON."""
    layer, nodes = [document], 0
    for _ in range(MAX_DEPTH + 1):
        nodes += len(layer)
        below = []
        for value in layer:
            kind = type(value)
            if kind is dict:
                nodes += len(value)
                below.extend(value.values())
            elif kind is list:
                below.extend(value)
        layer = below
    if layer or nodes > MAX_NODES and not trusted:
        raise ValueError('too deep or too large')
