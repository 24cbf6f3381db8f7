# SPDX-License-Identifier: Apache-2.0
"""A document fits its schema, or one error says where and why not."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from nova_holistic.exceptions import InvalidDocument

_KINDS = {
    'object': 'a mapping with text as keys', 'array': 'a list',
    'string': 'text', 'integer': 'a whole number',
    'number': 'a finite number', 'boolean': 'true or false'}


def _is_object(checker, value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(k, str) for k in value)


def _is_integer(checker, value: Any) -> bool:
    # Not 1.0, which JSON schema takes for an integer and Python does not.
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(checker, value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_integer(checker, value)


_Validator = jsonschema.validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {'object': _is_object, 'integer': _is_integer,
         'number': _is_number}))


def validator(schema: Mapping[str, Any]) -> Callable[[Any, str], None]:
    """Make a function that judges documents by the schema.

    It takes the document and the place where that stands in the whole, and
    raises InvalidDocument on the first error.
    """
    compiled = _Validator(schema)

    def judge(document: Any, place: str = '') -> None:
        try:
            error = next(compiled.iter_errors(document), None)
        except (RecursionError, ValueError):
            # From jsonschema's own message, which quotes the document: too
            # deep, or a number too long to be written out.
            raise InvalidDocument(
                place, 'nested too deeply, or a number too long') from None
        if error is not None:
            raise _told(error, place)

    return judge


def join(place: str, *steps: str | int) -> str:
    """The place reached by these keys and indices: ``members[0].count``."""
    for step in steps:
        if isinstance(step, int):
            place += f'[{step}]'
        elif re.fullmatch(r'[A-Za-z0-9_-]{1,255}', step):
            place += f'.{step}' if place else step
        else:
            place += f'[{brief(step)}]'
    return place


def brief(value: Any) -> str:
    """The value as an error message shows it: in one short line."""
    if value is None:
        return 'nothing'
    if isinstance(value, dict):
        return 'a mapping'
    if isinstance(value, list):
        return 'a list'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**20:
        return 'a number of more than 20 digits'
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f'{text[:57]}...'


def listed(names: Iterable[str]) -> str:
    return ', '.join(sorted(names)) or 'none'


def _told(error: ValidationError, place: str) -> InvalidDocument:
    place = join(place, *error.absolute_path)
    value, rule, keyword = (
        error.instance, error.validator_value, error.validator)
    if keyword == 'required':
        missing = next(key for key in rule if key not in value)
        return InvalidDocument(place, f'{missing} is missing')
    if keyword == 'additionalProperties':
        known = error.schema.get('properties', {})
        key = next(key for key in value if key not in known)
        return InvalidDocument(
            join(place, key), f'unknown key; known are {listed(known)}')
    if 'propertyNames' in error.absolute_schema_path:
        # jsonschema gives the mapping as the place of a bad key.
        place = join(place, value)
    message = f'must be {_asked(error)}'
    if keyword == 'type' or not isinstance(value, dict | list):
        message += f', not {brief(value)}'
    return InvalidDocument(place, message)


def _asked(error: ValidationError) -> str:
    """What was asked, to follow on "must be"."""
    rule, keyword, schema = (
        error.validator_value, error.validator, error.schema)
    if keyword == 'type' and isinstance(rule, str):
        return _KINDS[rule]
    limits = {
        'minimum': 'at least {}', 'maximum': 'at most {}',
        'exclusiveMinimum': 'more than {}',
        'maxItems': 'a list of at most {} values'}
    if 'description' in schema:
        return schema['description']
    if keyword in limits:
        return limits[keyword].format(rule)
    if keyword == 'uniqueItems':
        return 'a list that names nothing twice'
    if keyword == 'enum':
        return f'one of {listed(rule)}'
    if keyword == 'const':
        return brief(rule)
    return 'a mapping of at least one key'
