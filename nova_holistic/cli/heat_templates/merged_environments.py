# SPDX-License-Identifier: Apache-2.0
"""Merges the values of several environments, as Heat does.

The section ``parameter_merge_strategies`` of an environment selects the
strategy of each parameter.
"""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.source.json_text import load_json
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

PARAMETERS, DEFAULTS, REGISTRY, STRATEGIES = (
    'parameters', 'parameter_defaults', 'resource_registry',
    'parameter_merge_strategies')
_OVERWRITE, _MERGE, _DEEP = 'overwrite', 'merge', 'deep_merge'
_ALL = 'default'
"""Key of the strategy of all parameters that the section does not name."""
_LIST = 'comma_delimited_list'


class MergedEnvironments:
    """
    :ivar sections: the merged sections, by their names
    """

    def __init__(self, kinds: Mapping[str, str]):
        """
        :param kinds: types of the parameters of the template, by name
        """
        self._kinds = kinds
        self._strategies: dict[str, str] = {}
        self.sections: dict[str, dict[str, Any]] = {
            PARAMETERS: {}, DEFAULTS: {}, REGISTRY: {}}

    def add(self, environment: Mapping[str, Mapping[str, Any]]) -> None:
        """Merge an environment, which takes precedence over earlier ones.

        :param environment: its sections
        :raises InvalidDocument: values cannot be merged; with the position in
            the environment
        """
        self.sections[REGISTRY].update(environment.get(REGISTRY, {}))
        strategies = environment.get(STRATEGIES, {})
        for name, strategy in strategies.items():
            if strategy not in (_OVERWRITE, _MERGE, _DEEP):
                raise InvalidDocument(
                    join(STRATEGIES, name), f'must be {_OVERWRITE}, {_MERGE} '
                    f'or {_DEEP}, not {brief(strategy)}')
        for section in (PARAMETERS, DEFAULTS):
            for name, value in environment.get(section, {}).items():
                self._add(section, name, value, strategies)

    def _add(self, section: str, name: str, value: Any,
             strategies: Mapping[str, str]) -> None:
        values, place = self.sections[section], join(section, name)
        if value is None:
            # A value of an earlier environment remains.
            values.setdefault(name, None)
            return
        strategy = self._strategy(name, strategies)
        before = values.get(name)
        if strategy == _OVERWRITE or before in (None, '', [], {}):
            values[name] = value
            return
        try:
            values[name] = _merged(before, value, self._kind(name, value),
                                   strategy == _DEEP)
        except (TypeError, InvalidDocument):
            raise InvalidDocument(
                place, f'cannot be merged with the value of an earlier '
                f'environment: {brief(value)}; the strategy of the parameter '
                f'is {strategy}') from None

    def _strategy(self, name: str, strategies: Mapping[str, str]) -> str:
        first = self._strategies.get(name)
        own = strategies.get(name) or first or strategies.get(
            _ALL, _OVERWRITE)
        if first not in (None, own):
            raise InvalidDocument(
                join(STRATEGIES, name), f'must be {first}, the strategy in '
                'the first environment that has a value for the parameter')
        self._strategies[name] = own
        return own

    def _kind(self, name: str, value: Any) -> str | None:
        """The type of a parameter; None if it is not known. A nested template
        may declare it."""
        if name in self._kinds:
            return self._kinds[name]
        return {dict: 'json', list: _LIST}.get(type(value))


def _merged(before: Any, value: Any, kind: str | None, deep: bool) -> Any:
    """
    :param deep: whether values inside mappings are merged, too
    :raises TypeError: the values cannot be merged
    :raises InvalidDocument: a text is not JSON
    """
    if kind == 'json':
        return _merged_mappings(_mapping(before), _mapping(value), deep)
    if kind == _LIST and isinstance(value, list):
        return _list(before) + value
    if kind in (_LIST, 'string'):
        return (',' if kind == _LIST else '').join([before, value])
    raise TypeError


def _merged_mappings(before: Mapping[str, Any], values: Mapping[str, Any],
                     deep: bool) -> dict[str, Any]:
    merged = dict(before)
    for key, value in values.items():
        old = merged.get(key)
        if value is None:
            continue
        if not deep or not old:
            merged[key] = value
        elif isinstance(value, dict):
            merged[key] = _merged_mappings(_mapping(old), value, deep)
        elif isinstance(value, list):
            merged[key] = _list(old) + value
        elif isinstance(value, str):
            merged[key] = ''.join([old, value])
        else:
            merged[key] = value
    return merged


def _mapping(value: Any) -> Mapping[str, Any]:
    found = load_json(value) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise TypeError
    return found


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value
