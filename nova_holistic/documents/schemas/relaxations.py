# SPDX-License-Identifier: Apache-2.0
"""Schemas of relaxations and headroom in the result for a group."""

from typing import Any

_STRING = {'type': 'string'}
_BOOLEAN = {'type': 'boolean'}
_NUMBER = {'type': 'integer', 'minimum': 0}
_NAMES = {'type': 'array', 'items': _STRING}


def _object(required: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {'type': 'object', 'additionalProperties': False,
            'required': list(required),
            'properties': {**required, **others}}


_RULE = _object({'position': _STRING, 'at': _STRING, 'name': _STRING})

_HOSTS = _object(
    {'number': _NUMBER, 'in_new_domains': _BOOLEAN, 'smallest': _BOOLEAN},
    like=_STRING,
    added={'type': 'array', 'items': _object(
        {'location': _NAMES, 'beside': _STRING, 'number': _NUMBER})})

RELAXATIONS = _object({
    'preferences': {'type': 'array', 'items': _object({
        'rules': {'type': 'array', 'items': _RULE},
        'smallest': _BOOLEAN})},
    'counts': {'type': 'array', 'items': _object({
        'position': _STRING, 'member': _STRING, 'count': _NUMBER,
        'instead_of': _NUMBER, 'largest': _BOOLEAN})},
    'hosts': {'anyOf': [{'type': 'null'}, _HOSTS],
              'description': 'an object, or null if there is no such number'},
    'undecided': _NAMES,
}, cloud={**_STRING, 'title': 'A parent of a federation names the cloud that '
          'the group fits into after the change.'})
"""What makes an unplaceable group fit."""

HEADROOM = _object({
    'at_least': _NUMBER,
    'at_most': {'type': ['integer', 'null'], 'minimum': 0,
                'description': 'a whole number, or null if nothing limits '
                               'the number of copies, or if a parent of a '
                               'federation knows no limit'}})
"""How many copies of the group fit."""
