# SPDX-License-Identifier: Apache-2.0
"""Schema of an inventory document."""

from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.image import IMAGE_PROPERTIES

MAX_HOSTS = 100_000
"""Maximum number of hosts in one document."""

MAX_STATISTIC = 1e300

NAME = {
    'type': 'string',
    'description': '1 to 255 characters, none of them a slash or a control '
                   'character',
    'pattern': r'^[^/\x00-\x1f\x7f\ud800-\udfff]{1,255}\Z',
}

NAMES = {'type': 'array', 'maxItems': 32, 'items': NAME}

NATURAL = {'type': 'integer', 'minimum': 0, 'maximum': common.MAX_AMOUNT}
POSITIVE = {'type': 'integer', 'minimum': 1, 'maximum': common.MAX_AMOUNT}

# The amount of disk of a flavor may be 0, which is not allocated.
FLAVOR = {
    **common.RESOURCES,
    'additionalProperties': NATURAL,
}

INVENTORY = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['total'],
    'properties': {
        'total': NATURAL,
        'reserved': NATURAL,
        'allocation_ratio': {
            'type': 'number', 'exclusiveMinimum': 0, 'maximum': 1_000_000},
        # The usage of an over-committed class may exceed the maximum of a
        # total.
        'used': {'type': 'integer', 'minimum': 0, 'maximum': 2**53},
        'min_unit': POSITIVE,
        'max_unit': POSITIVE,
        'step_size': POSITIVE,
    },
}

STATISTICS = {
    'type': 'object',
    'maxProperties': 64,
    'propertyNames': {
        'type': 'string',
        'description': '1 to 255 letters, digits and _ . -',
        'pattern': r'^[A-Za-z0-9_.-]{1,255}\Z',
    },
    # JSON has no infinity, but some of its parsers, and YAML, accept it.
    'additionalProperties': {
        'type': 'number',
        'minimum': -MAX_STATISTIC, 'maximum': MAX_STATISTIC},
}

RESOURCES = {
    'type': 'object',
    'propertyNames': common.RESOURCE_CLASS,
    'additionalProperties': INVENTORY,
}

PROVIDER = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name', 'resources'],
    'properties': {
        'name': common.TEXT,
        'uuid': common.UUID,
        'parent': common.TEXT,
        'resources': RESOURCES,
        'traits': common.TRAITS,
    },
}

HOST = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name', 'resources'],
    'properties': {
        'name': NAME,
        'node': NAME,
        'uuid': common.UUID,
        'location': NAMES,
        'resources': RESOURCES,
        'providers': {'type': 'array', 'maxItems': 1000, 'items': PROVIDER},
        'traits': common.TRAITS,
        'aggregates': common.TEXTS,
        'labels': {
            'type': 'object',
            'propertyNames': NAME,
            'additionalProperties': NAME,
        },
        'servers': NATURAL,
        'enabled': {'type': 'boolean'},
        'statistics': STATISTICS,
    },
}

SHARING_PROVIDER = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name', 'resources', 'hosts'],
    'properties': {
        'name': common.TEXT,
        'uuid': common.UUID,
        'resources': RESOURCES,
        'traits': common.TRAITS,
        'hosts': {
            'description': 'a list of different hosts, at least one',
            'type': 'array', 'minItems': 1, 'maxItems': MAX_HOSTS,
            'uniqueItems': True, 'items': NAME,
        },
    },
}

CAPACITY = {
    'description': 'a number of GiB, infinite or unknown',
    'if': {'type': 'string'},
    'then': {'enum': ['infinite', 'unknown']},
    'else': {'type': 'number', 'minimum': 0, 'maximum': common.MAX_AMOUNT},
}

POOL = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['name', 'total_capacity_gb'],
    'properties': {
        # Cinder's names of pools may contain slashes.
        'name': common.TEXT,
        'location': NAMES,
        'labels': HOST['properties']['labels'],
        'volume_types': common.TEXTS,
        'total_capacity_gb': CAPACITY,
        'free_capacity_gb': CAPACITY,
        'provisioned_capacity_gb': CAPACITY['else'],
        'reserved_percentage': {
            'type': 'number', 'minimum': 0, 'maximum': 100},
        'max_over_subscription_ratio': {
            'type': 'number', 'minimum': 1, 'maximum': 1_000_000},
        'thin_provisioning_support': {'type': 'boolean'},
        'volumes': NATURAL,
        'enabled': {'type': 'boolean'},
    },
}

LINK = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['domain', 'uplink_mbps'],
    'properties': {
        'level': {**NAME, 'title': 'A label of hosts; not for domains of '
                                   'the tree.'},
        'domain': {'type': 'string', 'minLength': 1},
        'uplink_mbps': NATURAL,
        'used_mbps': NATURAL,
    },
}

DOCUMENT = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['levels', 'hosts'],
    'properties': {
        'levels': {
            **NAMES,
            'description': 'a list of different levels, at least one',
            'minItems': 1,
            'uniqueItems': True,
        },
        'hosts': {'type': 'array', 'maxItems': MAX_HOSTS, 'items': HOST},
        'sharing_providers': {
            'type': 'array', 'maxItems': 1000, 'items': SHARING_PROVIDER},
        'pools': {'type': 'array', 'maxItems': MAX_HOSTS, 'items': POOL},
        'default_volume_type': common.TEXT,
        'links': {'type': 'array', 'maxItems': MAX_HOSTS, 'items': LINK},
        'flavors': {
            'type': 'object',
            'propertyNames': common.TEXT,
            'additionalProperties': FLAVOR,
        },
        'images': {
            'type': 'object',
            'propertyNames': common.TEXT,
            'additionalProperties': IMAGE_PROPERTIES,
        },
    },
}
