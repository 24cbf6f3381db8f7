# SPDX-License-Identifier: Apache-2.0
"""Convert the query of a request to typed values, by its schema.

An unknown parameter is refused, and so is a repeated parameter that is not a
list.
"""

from collections.abc import Callable, Mapping
import re
from typing import Any

from webob.multidict import MultiDict

from nova_holistic.documents.validation import brief, listed
from nova_holistic.exceptions import InvalidDocument

_BOOLEANS = {'true': True, 'false': False}
_DIGITS = 18
"""Maximum length of a whole number: it fits into a column of 64 bits."""


def read(query: MultiDict, schema: Mapping[str, Any],
         validate: Callable[[Any], None]) -> Mapping[str, Any]:
    """
    :param schema: an object with one property per parameter
    :param validate: raises InvalidDocument if a value violates the schema
    :raises InvalidDocument: names the parameter
    """
    properties = schema.get('properties', {})
    values: dict[str, Any] = {}
    for name in query:
        if name not in properties:
            known = (f'the known parameters are {listed(properties)}'
                     if properties else 'this request has no parameters')
            raise InvalidDocument(
                name[:80] or "''", f'unknown parameter; {known}')
        values[name] = _value(name, query.getall(name), properties[name])
    validate(values)
    return values


def _value(name: str, texts: list[str], schema: Mapping[str, Any]) -> Any:
    if schema['type'] == 'array':
        return texts
    if len(texts) > 1:
        raise InvalidDocument(name, 'is given more than once')
    text = texts[0]
    if schema['type'] == 'integer':
        if not re.fullmatch(f'-?[0-9]{{1,{_DIGITS}}}', text):
            raise InvalidDocument(
                name, f'must be a whole number of at most {_DIGITS} digits, '
                      f'not {brief(text)}')
        return int(text)
    if schema['type'] == 'boolean':
        if text.lower() not in _BOOLEANS:
            raise InvalidDocument(
                name, f'must be true or false, not {brief(text)}')
        return _BOOLEANS[text.lower()]
    return text
