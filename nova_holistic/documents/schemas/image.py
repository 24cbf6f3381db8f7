# SPDX-License-Identifier: Apache-2.0
"""Schema of an image in a member description."""

from nova_holistic.documents.schemas import common

_SIZE = {'type': 'integer', 'minimum': 0, 'maximum': common.MAX_AMOUNT}

IMAGE_PROPERTIES = {
    'type': 'object',
    'description': 'a mapping of the properties of an image',
    'maxProperties': 256,
    'propertyNames': common.TEXT,
    'properties': {
        'min_disk': _SIZE, 'min_ram': _SIZE, 'disk_format': common.TEXT},
    'additionalProperties': {
        'type': ['string', 'number', 'boolean'], 'maxLength': 65535,
        'description': 'text, a number, true or false'},
}

IMAGE = {
    'description': 'the name or UUID of an image, or a mapping of its '
                   'properties',
    'if': {'type': 'object'},
    'then': IMAGE_PROPERTIES,
    'else': common.TEXT,
}
