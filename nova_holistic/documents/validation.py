# SPDX-License-Identifier: Apache-2.0
"""Validates documents against a schema. Errors state the position and the
violation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import itertools
import math
import re
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.messages.suggestion import did_you_mean

MERGE_KEY = '<<'
MERGE_KEYS = 'merge keys of YAML are not supported'
_KINDS = {
    'object': 'a mapping', 'array': 'a list',
    'string': 'text', 'integer': 'a whole number',
    'number': 'a finite number', 'boolean': 'true or false'}

_LIMITS = {
    'minimum': 'at least {}', 'maximum': 'at most {}',
    'exclusiveMinimum': 'more than {}'}
_CHARACTERS, _VALUES, _KEYS = (
    ('character', 'characters'), ('value', 'values'), ('key', 'keys'))
_LENGTHS = {
    'minLength': ('text of at least {}', *_CHARACTERS),
    'maxLength': ('text of at most {}', *_CHARACTERS),
    'minItems': ('a list of at least {}', *_VALUES),
    'maxItems': ('a list of at most {}', *_VALUES),
    'minProperties': ('a mapping of at least {}', *_KEYS),
    'maxProperties': ('a mapping of at most {}', *_KEYS)}


def _is_object(checker, value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(k, str) for k in value)


def _is_integer(checker, value: Any) -> bool:
    # JSON schema accepts 1.0 as an integer, and Python does not accept it.
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(checker, value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_integer(checker, value)


def _additional_properties(
        checker: Any, rule: Any, value: Any,
        schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """The errors of keys that the schema does not name, in the order of the
    document. jsonschema's own order differs from process to process, and so
    would the mistakes within the limit."""
    if not checker.is_type(value, 'object'):
        return
    keys = [key for key in value if key not in schema.get('properties', {})]
    if isinstance(rule, dict):
        for key in keys:
            yield from checker.descend(value[key], rule, path=key)
    elif not rule and keys:
        yield ValidationError('unknown keys')


_Validator = jsonschema.validators.extend(
    Draft202012Validator,
    {'additionalProperties': _additional_properties},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {'object': _is_object, 'integer': _is_integer,
         'number': _is_number}))


class validator:
    """Validates documents by a schema.

    :param formats: checks the values that the schema gives a format
    """

    def __init__(self, schema: Mapping[str, Any],
                 formats: jsonschema.FormatChecker | None = None):
        self._compiled = _Validator(schema, format_checker=formats)

    def __call__(self, document: Any, place: str = '') -> None:
        """
        :param place: position of the document in the whole
        :raises InvalidDocument: the document violates the schema; with all
            mistakes
        """
        mistakes = Mistakes()
        wrong = set()
        for error in self.errors(document, place):
            value = _wrong_value(error)
            # 0.5 is neither a whole number nor at least 1: one mistake.
            if value is None or value not in wrong:
                wrong.add(value)
                for mistake in _document_errors(error, place):
                    mistakes.add(mistake)
        mistakes.must_be_none()

    def errors(self, document: Any,
               place: str = '') -> Sequence[ValidationError]:
        """The errors of jsonschema, up to a limit.

        :raises InvalidDocument: the document cannot be validated
        """
        try:
            return list(itertools.islice(
                self._compiled.iter_errors(document), Mistakes.MOST))
        except (RecursionError, ValueError):
            # jsonschema's message quotes the document, which is too deep, or
            # has a number that is too long to be written.
            raise InvalidDocument(
                place, 'nested too deeply, or a number too long') from None


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
    """The value in an error message: one short line."""
    if value is None:
        return 'null'
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


def _wrong_value(error: ValidationError) -> Any:
    """Identifies the value, or the key of a mapping, that the error is about;
    None if the error is about a missing or unknown key."""
    if error.validator in ('required', 'additionalProperties', 'oneOf'):
        return None
    return _path(error), _is_about_key(error)


def _is_about_key(error: ValidationError) -> bool:
    return 'propertyNames' in error.absolute_schema_path


def _path(error: ValidationError) -> tuple[str | int, ...]:
    """The keys and indices of the wrong value. jsonschema reports the mapping
    as the position of an invalid key."""
    path = tuple(error.absolute_path)
    return (*path, error.instance) if _is_about_key(error) else path


def _document_errors(error: ValidationError,
                     place: str) -> Iterator[InvalidDocument]:
    """One error of jsonschema, which may concern several keys."""
    path = _path(error)
    if MERGE_KEY in path:
        yield InvalidDocument(join(
            place, *path[:path.index(MERGE_KEY) + 1]), MERGE_KEYS)
        return
    place = join(place, *path)
    value, rule, keyword = (
        error.instance, error.validator_value, error.validator)
    if keyword == 'required':
        for key in rule:
            if key not in value:
                yield InvalidDocument(place, f'{key} is missing')
        return
    if keyword == 'additionalProperties':
        known = error.schema.get('properties', {})
        for key in itertools.islice(
                (key for key in value if key not in known), Mistakes.MOST):
            yield InvalidDocument(
                join(place, key), MERGE_KEYS if key == MERGE_KEY else
                f'unknown key{did_you_mean(key, known)}'
                f'; known are {listed(known)}')
        return
    if keyword == 'oneOf' and all('required' in each for each in rule):
        # The type of the value has a separate error.
        if isinstance(value, dict):
            yield InvalidDocument(place, _alternatives(value, rule))
        return
    message = f'must be {_requirement(error)}'
    if keyword == 'type' or not isinstance(value, dict | list):
        message += f', not {brief(value)}'
    yield InvalidDocument(place, message)


def _alternatives(value: Mapping[str, Any],
                  alternatives: Sequence[Mapping[str, Any]]) -> str:
    """The message if not exactly one of the alternative keys is given."""
    keys = [' and '.join(each['required']) for each in alternatives]
    if any(key in value for key in keys):
        return f'must have only one of {" and ".join(keys)}'
    return f'must have either {" or ".join(keys)}'


def _requirement(error: ValidationError) -> str:
    """The requirement, to follow "must be"."""
    rule, keyword, schema = (
        error.validator_value, error.validator, error.schema)
    if rule == 'object' and isinstance(error.instance, dict):
        return 'a mapping with text as keys'
    if keyword == 'type' and isinstance(rule, str):
        return _KINDS[rule]
    if 'description' in schema:
        return schema['description']
    if keyword == 'type':
        return ' or '.join(_KINDS[each] for each in rule if each != 'null')
    if keyword in _LIMITS:
        return _LIMITS[keyword].format(rule)
    if keyword in _LENGTHS:
        text, one, many = _LENGTHS[keyword]
        return text.format(f'one {one}' if rule == 1 else f'{rule} {many}')
    if keyword == 'uniqueItems':
        return 'a list without duplicates'
    if keyword == 'enum':
        return f'one of {listed(rule)}'
    return brief(rule)
