# SPDX-License-Identifier: Apache-2.0
"""Schema of a group document, without its outer key.

The keys of a policy other than its type and weight are in the schema of that
policy.
"""

from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.image import IMAGE
from nova_holistic.model.request_group import ISOLATE, NONE

MAX_MEMBERS = 10_000
"""Maximum number of servers in one top-level group."""
MAX_PATH = 700
"""Maximum length of the path of a member; the limit of an index of the
placement table."""
MAX_DEPTH = 16
"""Maximum number of groups around a member."""
MAX_WEIGHT = 1_000_000
"""Maximum weight. With larger weights, sums of violations lose their last
digits."""

NAME = {
    'type': 'string',
    'description': '1 to 255 letters, digits, "_", "." or "-"',
    'pattern': r'^[A-Za-z0-9_.-]{1,255}\Z',
}

LOCATION = {
    'type': 'string',
    'description': 'names from coarse to fine, joined by single slashes',
    'maxLength': 2048,
    'pattern': r'^[^/\x00-\x1f\x7f]+(/[^/\x00-\x1f\x7f]+)*\Z',
}

WEIGHT = {'type': 'number', 'exclusiveMinimum': 0, 'maximum': MAX_WEIGHT}

_NUMBER = {'type': 'integer', 'minimum': 0, 'maximum': MAX_MEMBERS}

COUNT = {
    'description': 'a whole number, at least 1, or a mapping with the keys '
                   'min, desired and max',
    'if': {'type': 'object'},
    'then': {
        'additionalProperties': False,
        'required': ['desired'],
        'properties': {'min': _NUMBER, 'desired': _NUMBER,
                       'max': {**_NUMBER, 'minimum': 1}},
    },
    'else': {'type': 'integer', 'minimum': 1, 'maximum': MAX_MEMBERS},
}
"""A fixed number, or numbers that may change. The defaults of ``min`` and
``max`` are ``desired``."""

TRAITS = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {'required': common.TRAITS, 'forbidden': common.TRAITS},
}

MAX_REQUEST_GROUPS = 64
"""Maximum number of request groups of one member."""

SUFFIX = {
    'type': 'string',
    'description': 'a suffix of Placement: 1 to 64 letters, digits, "_" '
                   'or "-"',
    'pattern': r'^[A-Za-z0-9_-]{1,64}\Z',
}

REQUEST_GROUPS = {
    'type': 'object',
    'minProperties': 1,
    'maxProperties': MAX_REQUEST_GROUPS,
    'propertyNames': SUFFIX,
    'additionalProperties': {
        'type': 'object',
        'additionalProperties': False,
        'required': ['resources'],
        'properties': {'resources': common.RESOURCES, 'traits': TRAITS},
    },
}
"""Granular request groups of Placement, by their suffixes."""

SAME_SUBTREE = {
    'type': 'array',
    'minItems': 1,
    'maxItems': MAX_REQUEST_GROUPS,
    'items': {
        'type': 'array',
        'description': 'at least two suffixes of request groups',
        'minItems': 2,
        'maxItems': MAX_REQUEST_GROUPS,
        'items': SUFFIX,
        'uniqueItems': True,
    },
}
"""Sets of suffixes of request groups."""

MEMBER = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name'],
    'properties': {
        'name': NAME,
        'kind': {'enum': ['server', 'volume']},
        'count': COUNT,
        'skip': {
            'type': 'array',
            'maxItems': MAX_MEMBERS,
            'items': {'type': 'integer', 'minimum': 0,
                      'maximum': MAX_MEMBERS},
            'uniqueItems': True,
        },
        'flavor': common.TEXT,
        'resources': common.RESOURCES,
        'traits': TRAITS,
        'request_groups': REQUEST_GROUPS,
        'group_policy': {'enum': [NONE, ISOLATE]},
        'same_subtree': SAME_SUBTREE,
        'availability_zone': common.TEXT,
        'aggregates': common.TEXTS,
        'location': LOCATION,
        'image': IMAGE,
        'boot_from_volume': {'type': 'boolean'},
        'boot_volume': NAME,
        'server_group': common.UUID,
        # documents.servers.server validates it: its schema has formats.
        'server': {'type': 'object'},
        'size': {'type': 'integer', 'minimum': 1,
                 'maximum': common.MAX_AMOUNT},
        'volume_type': common.TEXT,
        'create_at_plan_time': {'type': 'boolean'},
    },
    # documents.groups.volumes checks which keys each kind has.
    'if': {'properties': {'kind': {'const': 'volume'}}, 'required': ['kind']},
    'then': {'required': ['size']},
    'else': {
        'oneOf': [{'required': ['flavor']}, {'required': ['resources']}]},
}

POLICY = {
    'type': 'object',
    'required': ['type'],
    'properties': {'type': common.TEXT, 'weight': WEIGHT},
}

BETWEEN = {
    'type': 'array',
    'description': 'a list of two paths',
    'minItems': 2,
    'maxItems': 2,
    'items': {
        'type': 'string',
        'description': 'the path of a group or member below this group',
        'maxLength': MAX_PATH,
        'pattern': LOCATION['pattern'],
    },
}

RELATIONSHIP = {
    'type': 'object',
    'required': ['type', 'between'],
    'properties': {'type': common.TEXT, 'weight': WEIGHT, 'between': BETWEEN},
}

ADOPT = {
    'type': 'object',
    'maxProperties': MAX_MEMBERS,
    'propertyNames': {
        'description': 'the path of a member',
        'maxLength': MAX_PATH,
        'pattern': LOCATION['pattern'],
    },
    'additionalProperties': common.UUID,
}

GROUP = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name'],
    'properties': {
        'name': common.TEXT,
        'count': COUNT,
        'policies': {'type': 'array', 'maxItems': 1000, 'items': POLICY},
        'members': {
            'type': 'array', 'maxItems': MAX_MEMBERS, 'items': MEMBER},
        'groups': {
            'type': 'array',
            'maxItems': MAX_MEMBERS,
            'items': {
                'properties': {'name': NAME},
                '$ref': '#',
            },
        },
        'relationships': {
            'type': 'array', 'maxItems': 1000, 'items': RELATIONSHIP},
        'adopt': ADOPT,
    },
}
