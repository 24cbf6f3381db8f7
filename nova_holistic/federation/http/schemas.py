# SPDX-License-Identifier: Apache-2.0
"""Schemas of the parts of a child's answers that a parent uses.

Other keys are ignored, so that a child may have a newer version.
"""

from typing import Any

from nova_holistic.documents.schemas.common import UUID
from nova_holistic.documents.schemas.group import MAX_MEMBERS, MAX_PATH
from nova_holistic.documents.schemas.relaxations import RELAXATIONS
from nova_holistic.documents.validation import validator

MAX_TEXT = 2000
MAX_CLOUDS = 8
"""Maximum number of clouds in the path of a cloud below a child. A longer path
indicates a cycle."""
_LARGEST = 1e15
"""Maximum absolute value of a number. A sum of such numbers is finite, and the
integer program can use it."""
_NUMBER = {'type': 'number', 'minimum': -_LARGEST, 'maximum': _LARGEST}
_WHOLE = {'type': 'integer', 'minimum': 0, 'maximum': 2**31 - 1}
_WORD = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_TEXT = {'type': 'string', 'maxLength': 2**16}
_PATH = {'type': 'string', 'minLength': 1, 'maxLength': MAX_PATH}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {'type': 'object', 'properties': properties,
            'required': list(required)}


_REASONS = {'type': 'array', 'maxItems': 1000, 'items': _object(
    {'at': _TEXT, 'message': _TEXT}, 'at', 'message')}

_PLAN = _object({
    'id': UUID,
    'status': {'enum': ['planning', 'planned', 'unplaceable', 'unknown',
                        'error']},
    'objective': _object(
        {'name': _WORD, 'value': _NUMBER,
         'bound': {**_NUMBER, 'type': ['number', 'null']}}, 'name', 'value'),
    'preference_cost': _object({
        'value': {**_NUMBER, 'minimum': 0},
        'bound': _NUMBER}, 'value'),
    'placements': {'type': 'array', 'maxItems': MAX_MEMBERS,
                   'items': _object({'member': _PATH}, 'member')},
    'headroom': _object(
        {'at_least': _WHOLE,
         'at_most': {**_WHOLE, 'type': ['integer', 'null']}}, 'at_least'),
    'relaxations': RELAXATIONS,
    'reasons': _REASONS,
    'message': _TEXT,
}, 'id', 'status')

_GROUP = _object({
    'id': UUID,
    'name': _WORD,
    'status': _WORD,
    'task': {'type': ['string', 'null'], 'maxLength': 255},
    'members': {'type': 'object', 'maxProperties': 20,
                'additionalProperties': _WHOLE},
    'lease_expires_at': {'type': ['string', 'null'], 'maxLength': 64},
    'idempotency_key': {'type': ['string', 'null'], 'maxLength': 255},
    'project_id': {'type': ['string', 'null'], 'maxLength': 255},
    'reasons': _REASONS,
}, 'id', 'name', 'status', 'task', 'members', 'lease_expires_at')

_CLOUD = {
    'type': 'string',
    'description': f'1 to {MAX_CLOUDS} names of clouds, joined by slashes',
    'pattern': r'^[A-Za-z0-9_.-]{1,64}(/[A-Za-z0-9_.-]{1,64}){0,%d}\Z' % (
        MAX_CLOUDS - 1)}
_PLACEMENT = _object(
    {'member': _PATH, 'state': _WORD,
     'instance_uuid': {'type': ['string', 'null'], 'maxLength': 64},
     'cloud': _CLOUD,
     'pointer': _object({'holistic_group': UUID, 'holistic_member': _PATH},
                        'holistic_group', 'holistic_member')},
    'member', 'state')

_DEFINED = _object(
    {**_GROUP['properties'],
     'revision': {'type': 'integer', 'minimum': 1, 'maximum': 2**31 - 1},
     'definition': {'type': 'object'}},
    *_GROUP['required'], 'revision', 'definition')

_MOVE = _object({'member': _PATH, 'instance_uuid': UUID, 'source': _WORD,
                 'destination': _WORD},
                'member', 'instance_uuid', 'source', 'destination')
_REPAIR = _object({
    'moves': {'type': 'array', 'maxItems': MAX_MEMBERS, 'items': _MOVE},
    'planned_again': {'type': 'array', 'maxItems': MAX_MEMBERS,
                      'items': _PATH},
    'reasons': _REASONS}, 'moves', 'planned_again', 'reasons')

plan = validator(_object({'plan': _PLAN}, 'plan'))
group = validator(_object({'group': _GROUP}, 'group'))
groups = validator(_object({'groups': {
    'type': 'array', 'maxItems': 1000, 'items': _GROUP},
    'groups_links': {'type': 'array', 'maxItems': 10}}, 'groups'))
placements = validator(_object({'placements': {
    'type': 'array', 'maxItems': MAX_MEMBERS, 'items': _PLACEMENT}},
    'placements'))
defined_group = validator(_object({'group': _DEFINED}, 'group'))
repair = validator(_object({'repair': _REPAIR}, 'repair'))
