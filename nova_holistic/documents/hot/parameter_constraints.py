# SPDX-License-Identifier: Apache-2.0
"""Check a parameter's value against the constraints that need only the
template.

``custom_constraint`` needs the cloud, and ``allowed_pattern`` may contain a
regular expression with unbounded run time: both are left to Heat.
"""

from collections.abc import Callable, Mapping, Sequence
import math
import re
from typing import Any

from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

_ALLOWED = 'allowed_values'
_NUMBER = re.compile(r'[+-]?[0-9]{1,20}(\.[0-9]{1,20})?')


def check(value: Any, constraints: Sequence[Mapping[str, Any]], place: str,
          converted: Callable[[Any], Any]) -> str | None:
    """The violated constraint, as a continuation of "must be"; None if the
    value satisfies all.

    :param place: position of the constraints
    :param converted: converts an allowed value to the type of the parameter;
        it raises ValueError or InvalidDocument
    :raises InvalidDocument: a constraint is not well-formed
    """
    for i, constraint in enumerate(constraints):
        if _ALLOWED in constraint:
            rule, where = constraint[_ALLOWED], join(place, i, _ALLOWED)
            broken = _allowed_values(value, rule, where, converted)
            if broken:
                return broken
        for name, constraint_check in _CHECKS.items():
            if name in constraint:
                broken = constraint_check(
                    value, constraint[name], join(place, i, name))
                if broken:
                    return broken
    return None


def _allowed_values(value: Any, rule: Any, place: str,
                    converted: Callable[[Any], Any]) -> str | None:
    if not isinstance(rule, list):
        raise InvalidDocument(place, f'must be a list, not {brief(rule)}')
    if isinstance(value, dict):
        return None
    single = [v for v in rule if not isinstance(v, dict | list)]
    if isinstance(value, list):
        allowed = set(single)
        if all(v in allowed for v in value if not isinstance(v, dict | list)):
            return None
    elif any(_is(value, v, converted) for v in single):
        return None
    shown = ', '.join(brief(v) for v in rule[:10])
    return f'one of {shown}' + (', …' if len(rule) > 10 else '')


def _is(value: Any, allowed: Any, converted: Callable[[Any], Any]) -> bool:
    """Whether the value is the allowed one, as in Heat: the numbers 1 and 1.0
    are equal, and so are the boolean true and the text "yes"."""
    try:
        return value == converted(allowed)
    except (ValueError, InvalidDocument):
        return False


def _length(value: Any, rule: Any, place: str) -> str | None:
    low, high = _limits(rule, place, 'min', 'max')
    if not isinstance(value, str | list | dict) or low <= len(value) <= high:
        return None
    return f'of a length {_between(low, high)}'


def _range(value: Any, rule: Any, place: str) -> str | None:
    low, high = _limits(rule, place, 'min', 'max')
    if not isinstance(value, int | float) or low <= value <= high:
        return None
    return _between(low, high)


def _modulo(value: Any, rule: Any, place: str) -> str | None:
    if not isinstance(value, int | float):
        return None
    step, offset = _limits(rule, place, 'step', 'offset')
    if not math.isfinite(step) or not step:
        raise InvalidDocument(place, 'step must be a number other than 0')
    offset = offset if math.isfinite(offset) else 0
    if value % step == offset:
        return None
    return f'{offset:g} more than a multiple of {step:g}'


def _limits(rule: Any, place: str, first: str,
            second: str) -> tuple[float, float]:
    """Two numbers of a mapping; -∞ and ∞ if they are missing or null."""
    if not isinstance(rule, dict):
        raise InvalidDocument(place, f'must be a mapping, not {brief(rule)}')
    found = []
    for key, default in ((first, -math.inf), (second, math.inf)):
        limit = rule.get(key)
        found.append(default if limit is None
                     else _number(limit, join(place, key)))
    return found[0], found[1]


def _number(value: Any, place: str) -> float:
    """Heat accepts a number in the form of text, too."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidDocument(place, f'must be a number, not {brief(value)}')
    return value


def _between(low: float, high: float) -> str:
    if math.isinf(low):
        return f'at most {high:g}'
    return f'at least {low:g}' + (
        '' if math.isinf(high) else f' and at most {high:g}')


_CHECKS: Mapping[str, Callable[[Any, Any, str], str | None]] = {
    'length': _length, 'range': _range, 'modulo': _modulo}
