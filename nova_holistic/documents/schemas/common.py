# SPDX-License-Identifier: Apache-2.0
"""Parts of schemas that several kinds of documents share."""

import os_resource_classes

MAX_AMOUNT = 2**31 - 1
"""Largest amount of a resource that Placement can store."""

TEXT = {
    'type': 'string',
    'description': '1 to 255 characters, none of them a control character',
    'minLength': 1,
    'maxLength': 255,
    'pattern': r'^[^\x00-\x1f\x7f\ud800-\udfff]*\Z',
}

TEXTS = {
    'type': 'array',
    'maxItems': 1000,
    'items': TEXT,
    'uniqueItems': True,
}

UUID = {
    'type': 'string',
    'description': 'a UUID',
    'pattern': r'^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z',
}

TRAITS = {
    'type': 'array',
    'maxItems': 1000,
    'items': {
        'type': 'string',
        'description': 'the name of a trait: capitals, digits and _',
        'pattern': r'^[A-Z0-9_]{1,255}\Z',
    },
    'uniqueItems': True,
}

RESOURCE_CLASS = {
    'description': 'a resource class: a standard one or CUSTOM_…',
    'anyOf': [
        {'enum': sorted(os_resource_classes.STANDARDS)},
        {'pattern': r'^CUSTOM_[A-Z0-9_]{1,248}\Z'},
    ],
}

RESOURCES = {
    'type': 'object',
    'minProperties': 1,
    'propertyNames': RESOURCE_CLASS,
    'additionalProperties': {
        'type': 'integer', 'minimum': 1, 'maximum': MAX_AMOUNT},
}
