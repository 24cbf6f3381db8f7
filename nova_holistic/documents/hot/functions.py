# SPDX-License-Identifier: Apache-2.0
"""Evaluates the functions in the values that a plan needs.

Supported are ``get_param``, ``str_replace`` and ``list_join``. The values of
Heat's other functions are known only when the stack is created.
"""

from collections.abc import Mapping
import re
from typing import Any

from nova_holistic.documents.hot.parameters import Parameters
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument, Mistakes

_MAX_TEXT = 2**16
"""Maximum length of an evaluated text in characters."""
_MAX_WORK = 20_000_000
"""Maximum number of characters and values that are read in one template."""

_REFUSED = frozenset({
    'Ref', 'and', 'contains', 'digest', 'equals', 'filter', 'get_attr',
    'get_file', 'get_resource', 'if', 'list_concat', 'list_concat_unique',
    'make_url', 'map_merge', 'map_replace', 'not', 'or', 'repeat',
    'resource_facade', 'str_replace_strict', 'str_replace_vstrict',
    'str_split', 'yaql'})


def function_name(value: Any) -> str | None:
    """The name of the function of Heat that the value calls, if any."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    name = next(iter(value))
    if name in _REFUSED or name in Resolver.FUNCTIONS \
            or re.fullmatch('Fn::[A-Za-z]{1,40}', name):
        return name
    return None


class Resolver:
    """Evaluates functions. A function that cannot be evaluated remains
    unchanged."""

    def __init__(self, parameters: Parameters,
                 mistakes: Mistakes):
        """
        :param mistakes: the mistakes of the template
        """
        self._parameters = parameters
        self._work = 0
        self.mistakes = mistakes

    def items(self, value: Any, place: str) -> Any:
        """The value of a list. The mistakes of its items are collected, and
        None stands for an item with a mistake."""
        if not isinstance(value, list):
            return self.value(value, place)
        found: list[Any] = [None] * len(value)
        for i, item in enumerate(value):
            with self.mistakes.collected():
                found[i] = self.value(item, join(place, i))
        return found

    def value(self, value: Any, place: str) -> Any:
        """The value with all its functions evaluated.

        :raises InvalidDocument: a function is not supported, or has invalid
            arguments
        """
        name = function_name(value)
        if name in self.FUNCTIONS:
            place = join(place, name)
            return self.FUNCTIONS[name](
                self, self.value(value[name], place), place)
        if name is not None:
            raise InvalidDocument(
                place, f'function {name} is not supported where a plan needs '
                'the value')
        if isinstance(value, dict):
            return {key: self.value(v, join(place, key))
                    for key, v in value.items()}
        if isinstance(value, list):
            return [self.value(v, join(place, i))
                    for i, v in enumerate(value)]
        return value

    def _get_param(self, args: Any, place: str) -> Any:
        name, *path = args if isinstance(args, list) and args else [args]
        if not isinstance(name, str):
            raise InvalidDocument(
                place, f'must be the name of a parameter, or a list that '
                f'begins with one, not {brief(args)}')
        found = self._parameters.value(name, place)
        for i, step in enumerate(path, 1):
            try:
                found = _step(found, step)
            except (KeyError, IndexError, TypeError, ValueError):
                raise InvalidDocument(
                    join(place, i), f'parameter {brief(name)} has nothing at '
                    f'{brief(step)}') from None
        return found

    def _str_replace(self, args: Any, place: str) -> str:
        if not isinstance(args, dict) or set(args) != {'template', 'params'}:
            raise InvalidDocument(place, 'requires template and params')
        template, params = args['template'], args['params']
        if not isinstance(template, str):
            raise InvalidDocument(join(place, 'template'),
                                  f'must be text, not {brief(template)}')
        if not isinstance(params, dict) or '' in params:
            raise InvalidDocument(join(place, 'params'),
                                  'must be a mapping from text to text')
        values = {}
        for key, value in params.items():
            if isinstance(value, dict | list):
                raise InvalidDocument(
                    join(place, 'params', key),
                    f'must be text or a number, not {brief(value)}')
            values[key] = '' if value is None else str(value)
        self._spend((len(params) + 1) * (len(template) + 1), place)
        parts = _replaced(template, values)
        _check_length(sum(map(len, parts)), place)
        return ''.join(parts)

    def _list_join(self, args: Any, place: str) -> str:
        if (not isinstance(args, list) or len(args) < 2
                or not isinstance(args[0], str)
                or not all(isinstance(a, list) for a in args[1:])):
            raise InvalidDocument(
                place, 'requires a delimiter and one or more lists')
        delimiter, *lists = args
        texts: list[str] = []
        for i, items in enumerate(lists, 1):
            self._spend(2 * len(items), place)
            found = _texts(items, join(place, i))
            self._spend(sum(map(len, found)), place)
            texts += found
        _check_length(sum(map(len, texts))
                      + len(delimiter) * max(len(texts) - 1, 0), place)
        return delimiter.join(texts)

    def _spend(self, work: int, place: str) -> None:
        self._work += work
        if self._work > _MAX_WORK:
            raise InvalidDocument(
                place, 'the functions take too long to evaluate')

    FUNCTIONS = {'get_param': _get_param, 'str_replace': _str_replace,
                 'list_join': _list_join}


def _step(found: Any, step: Any) -> Any:
    if isinstance(found, list):
        return found[int(step)]
    if isinstance(found, dict):
        return found[step]
    raise TypeError


def _replaced(template: str, values: Mapping[str, str]) -> list[str]:
    """The parts of the text, with values instead of keys.

    Longer keys are replaced first, and values are not searched for keys.
    """
    parts = [(template, False)]
    for key in sorted(sorted(values), key=len, reverse=True):
        after = []
        for text, final in parts:
            if final or key not in text:
                after.append((text, final))
                continue
            first, *others = text.split(key)
            after.append((first, False))
            for other in others:
                after += [(values[key], True), (other, False)]
        parts = after
    return [text for text, _ in parts]


def _texts(values: list[Any], place: str) -> list[str]:
    """The values; empty texts instead of missing ones."""
    for i, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            # A list may be long, so a place is named only in an error.
            raise InvalidDocument(
                join(place, i), f'must be text, not {brief(value)}')
    return [value or '' for value in values]


def _check_length(length: int, place: str) -> None:
    if length > _MAX_TEXT:
        raise InvalidDocument(
            place, f'results in more than {_MAX_TEXT} characters')
