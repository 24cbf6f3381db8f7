# SPDX-License-Identifier: Apache-2.0
"""Comparisons in extra specs, such as ``>= 4`` or ``<or> a``.

Their results, including unusual ones, are those of
nova.scheduler.filters.extra_specs_ops.
"""

from collections.abc import Callable
import operator

_OR = '<or>'
_ALL_IN = '<all-in>'
_NUMBERS: dict[str, Callable[[float, float], bool]] = {
    '=': operator.ge, '==': operator.eq, '!=': operator.ne,
    '>=': operator.ge, '<=': operator.le}
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    's==': operator.eq, 's!=': operator.ne, 's<': operator.lt,
    's<=': operator.le, 's>': operator.gt, 's>=': operator.ge,
    '<in>': operator.contains}


def matches(value: str, required: str) -> bool:
    """Whether a value satisfies what an extra spec requires.

    A text that is no number satisfies no comparison of numbers. In this case,
    the request to Nova fails.
    """
    name, *words = required.split() or ['']
    if name == _OR:
        # In ``<or> a <or> b``, every second word is a value.
        return value in words[::2]
    if name == _ALL_IN:
        return bool(words) and all(word in value for word in words)
    if name in _TEXTS:
        return bool(words) and _TEXTS[name](value, words[0])
    if name in _NUMBERS:
        return bool(words) and _compare(name, value, words[0])
    return value == required


def _compare(name: str, value: str, wanted: str) -> bool:
    try:
        return _NUMBERS[name](float(value), float(wanted))
    except ValueError:
        return False
