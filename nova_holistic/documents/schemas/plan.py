# SPDX-License-Identifier: Apache-2.0
"""Schemas of the result for a group, by its status."""

from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.inventory import MAX_HOSTS, NAMES
from nova_holistic.documents.schemas.relaxations import (
    HEADROOM, RELAXATIONS)

STRING = {'type': 'string'}

PROVED = {
    'type': ['number', 'null'],
    'description': 'a finite number, or null where nothing is proved',
}

SECONDS = {
    'type': 'object',
    'additionalProperties': {'type': 'number', 'minimum': 0},
}

PLACEMENT = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['member', 'host'],
    'properties': {
        'member': {'type': 'string', 'minLength': 1},
        # The host of a volume is a pool of Cinder, whose name may contain
        # slashes.
        'host': common.TEXT,
        'node': common.TEXT,
        'location': NAMES,
    },
}

OBJECTIVE = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name', 'value', 'bound', 'gap'],
    'properties': {
        'name': STRING,
        'value': {'type': 'number'},
        'bound': PROVED,
        'gap': PROVED,
    },
}

PREFERENCE = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['policy', 'at', 'violations'],
    'properties': {
        'policy': STRING,
        'at': STRING,
        'violations': {'type': 'integer', 'minimum': 0},
        'level': STRING,
        'weight': {'type': 'number', 'exclusiveMinimum': 0},
    },
}

PREFERENCE_COST = {
    'type': 'object',
    'title': 'Weighted violations of all preferences, and their lower bound.',
    'additionalProperties': False,
    'required': ['value', 'bound', 'gap'],
    'properties': {key: {'type': 'number'}
                   for key in ('value', 'bound', 'gap')},
}

REASON = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['at', 'message'],
    'properties': {'at': STRING, 'message': STRING},
}

STATUS = {
    'type': 'object',
    'required': ['status'],
    'properties': {
        'status': {'enum': ['planned', 'unplaceable', 'unknown']}},
}

PLANNED = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['group', 'placements', 'objective'],
    'properties': {
        'status': STRING,
        'group': common.TEXT,
        'placements': {
            'type': 'array', 'maxItems': MAX_HOSTS, 'items': PLACEMENT},
        'objective': OBJECTIVE,
        'preferences': {'type': 'array', 'items': PREFERENCE},
        'preference_cost': PREFERENCE_COST,
        'warnings': {'type': 'array', 'items': REASON},
        'seconds': SECONDS,
        'explain': {'type': 'array', 'items': {'type': 'object'}},
        'headroom': HEADROOM,
    },
}

UNPLACEABLE = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['reasons'],
    'properties': {
        'status': STRING,
        'reasons': {'type': 'array', 'items': REASON},
        'minimal': {'type': 'boolean'},
        'relaxations': RELAXATIONS,
        'headroom': HEADROOM,
    },
}

UNKNOWN = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['message'],
    'properties': {
        'status': STRING,
        'group': common.TEXT,
        'message': STRING,
        'seconds': SECONDS,
        'headroom': HEADROOM,
    },
}
