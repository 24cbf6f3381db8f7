# SPDX-License-Identifier: Apache-2.0
"""The values of parameters, converted to their types: the given value or the
default."""

from collections.abc import Callable, Iterable, Mapping
import math
from typing import Any

from nova_holistic.documents.hot import parameter_constraints
from nova_holistic.documents.source.json_text import load_json, MAX_DIGITS
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.model.messages.suggestion import did_you_mean

STACK_NAME = 'OS::stack_name'
_PSEUDO = (STACK_NAME, 'OS::stack_id', 'OS::project_id')
"""Parameters that get their values from Heat when the stack is created."""

_WRITTEN = ('json', 'comma_delimited_list')
_MAX_TEXT = 2**20
"""Maximum length of the text of parameters that is parsed as lists and
mappings."""

_TRUE = ('true', 't', 'yes', 'y', 'on', '1')
_FALSE = ('false', 'f', 'no', 'n', 'off', '0')

_GIVEN_VALUE = ('the value{} given for it in an environment or on the command '
                'line')
_NESTED_VALUE = 'the value{} given for it in a resource or an environment'


class Parameters:
    """The parameters of one template.

    :param declared: the section ``parameters``
    :param given: text or plain data by name, which takes precedence over
        defaults
    :param unknown: parameters whose values are known only when the stack is
        created, with the reason
    :param mistakes: receives the mistakes of the given values: a name is not
        declared, or its value has another type or violates a constraint
    :param nested: whether the values are properties of a nested stack
    """

    def __init__(self, declared: Mapping[str, Mapping[str, Any]],
                 given: Mapping[str, Any], mistakes: Mistakes,
                 unknown: Mapping[str, str] | None = None,
                 nested: bool = False):
        self._declared = declared
        self._unknown = dict(unknown or {})
        self._values: dict[str, Any] = {}
        self._mistakes = mistakes
        self._read = 0
        self._given_value = _NESTED_VALUE if nested else _GIVEN_VALUE
        for name in self._unknown:
            with mistakes.collected():
                self._must_be_declared(name)
        for name, text in given.items():
            with mistakes.collected():
                self._must_be_declared(name)
                # As in Heat, the default replaces null.
                if text is not None:
                    self._values[name] = self._given(name, text)

    def value(self, name: str, place: str) -> Any:
        """
        :param place: position of its use
        :raises InvalidDocument: no such parameter, or no value, exists
        """
        self._must_be_readable(name)
        if name not in self._declared and name not in _PSEUDO:
            raise InvalidDocument(place, f'no parameter {brief(name)}'
                                         f'{did_you_mean(name, self._known)}')
        if name in self._unknown:
            raise InvalidDocument(
                place, f'the value of parameter {brief(name)} is not known '
                f'before the stack is created: {self._unknown[name]}')
        if name not in self._values:
            default = self._declared.get(name, {}).get('default')
            if default is None:
                raise InvalidDocument(
                    place, f'parameter {brief(name)} has no value: it has no '
                    'default and none is given')
            self._values[name] = self._typed(name, default, 'the default{}')
        return self._values[name]

    def _must_be_readable(self, name: str) -> None:
        """:raises InvalidDocument: the parameter has a mistake"""
        known = self._mistakes.at(join('parameters', name))
        if known is not None:
            raise known

    @property
    def _known(self) -> list[str]:
        return [*self._declared, *_PSEUDO]

    def _must_be_declared(self, name: str) -> None:
        if name not in self._declared and name not in _PSEUDO:
            raise InvalidDocument(
                'parameters', f'the template has no parameter {brief(name)}'
                f'{did_you_mean(name, self._known)}; it has '
                f'{_some(self._declared)}')

    def _given(self, name: str, text: Any) -> Any:
        self._must_be_readable(name)
        return self._typed(name, text, self._given_value)

    def _typed(self, name: str, value: Any, what: str) -> Any:
        """
        :param what: describes the value in errors; ``{}`` stands for the value
            itself
        """
        if name in _PSEUDO:
            return value
        declared, place = self._declared[name], join('parameters', name)
        kind = declared['type']
        shown = '' if declared.get('hidden') else (
            f', {brief(value)},' if isinstance(value, dict | list | None)
            else f' {brief(value)}')
        if kind in _WRITTEN and isinstance(value, str):
            self._read += len(value)
            if self._read > _MAX_TEXT:
                raise InvalidDocument(
                    place, f'more than {_MAX_TEXT} characters of lists and '
                    'JSON to read')
        try:
            value = _KINDS[kind](value)
        except (ValueError, InvalidDocument):
            raise InvalidDocument(
                place, f'{what.format(shown)} is not of type {kind}'
            ) from None
        broken = parameter_constraints.check(
            value, declared.get('constraints') or (),
            join(place, 'constraints'), _KINDS[kind])
        if broken:
            raise InvalidDocument(
                place, f'{what.format(shown)} must be {broken}')
        return value


def _some(names: Iterable[str]) -> str:
    """The first few, for a message."""
    names = sorted(names)
    shown = [brief(name) for name in names[:10]]
    return ', '.join(shown + ['…'] * (len(names) > 10)) or 'none'


def _string(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError
    return str(value)


def _number(value: Any) -> int | float:
    if isinstance(value, str) and len(value) <= MAX_DIGITS:
        # As in Heat, 1_000 and numbers between spaces are whole, too.
        try:
            value = int(value)
        except ValueError:
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    if not math.isfinite(value):
        raise ValueError
    return value


def _boolean(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _TRUE + _FALSE:
        raise ValueError
    return text in _TRUE


def _json(value: Any) -> Any:
    # As in Heat, every value of JSON is accepted, and an empty text is itself.
    return load_json(value) if isinstance(value, str) and value else value


def _list(value: Any) -> list[str]:
    if isinstance(value, list):
        return [_string(item) for item in value]
    if not isinstance(value, str):
        raise ValueError
    # As in Heat, spaces belong to the items.
    return value.split(',') if value else []


_KINDS: Mapping[str, Callable[[Any], Any]] = {
    'string': _string, 'number': _number, 'boolean': _boolean,
    'json': _json, 'comma_delimited_list': _list}
