# SPDX-License-Identifier: Apache-2.0
"""Decides whether a storage pool satisfies the extra specs of a volume type,
as Cinder's CapabilitiesFilter does.

Source: cinder.scheduler.filters.capabilities_filter and extra_specs_ops of
Cinder 29.0.0.
"""

from collections.abc import Mapping
import operator
from typing import Any

from oslo_utils import strutils

_SCOPE = 'capabilities'

_OPERATORS = {
    '=': lambda found, wanted: float(found) >= float(wanted),
    '==': lambda found, wanted: float(found) == float(wanted),
    '!=': lambda found, wanted: float(found) != float(wanted),
    '>=': lambda found, wanted: float(found) >= float(wanted),
    '<=': lambda found, wanted: float(found) <= float(wanted),
    's==': operator.eq, 's!=': operator.ne, 's<': operator.lt,
    's<=': operator.le, 's>': operator.gt, 's>=': operator.ge,
    '<in>': lambda found, wanted: wanted in found,
    '<is>': lambda found, wanted: (
        strutils.bool_from_string(found) is strutils.bool_from_string(
            wanted))}


def satisfies(capabilities: Mapping[str, Any],
              extra_specs: Mapping[str, str]) -> bool:
    """Whether a pool satisfies all extra specs of a volume type.

    :param capabilities: capabilities of the pool, as Cinder's API reports them
    """
    return all(_has(capabilities, key.split(':'), wanted)
               for key, wanted in extra_specs.items())


def _has(capabilities: Any, steps: list[str], wanted: str) -> bool:
    if len(steps) > 1 and steps[0] != _SCOPE:
        # Drivers, and other filters, evaluate keys with another scope.
        return True
    if steps[0] == _SCOPE:
        steps = steps[1:]
    for step in steps:
        if not isinstance(capabilities, Mapping) or step not in capabilities:
            return False
        capabilities = capabilities[step]
    values = (capabilities if isinstance(capabilities, list)
              else [capabilities])
    return any(_matches(value, wanted) for value in values)


def _matches(value: Any, wanted: str | None) -> bool:
    if wanted is None:
        return value is None
    sign, *words = wanted.split() or ['']
    if sign == '<or>':
        return value is not None and value in words[::2]
    if sign not in _OPERATORS:
        return value == wanted
    if value is None or not words:
        return False
    try:
        return bool(_OPERATORS[sign](value, words[0]))
    except (TypeError, ValueError):
        return False
