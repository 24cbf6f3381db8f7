# SPDX-License-Identifier: Apache-2.0
"""Schema of the parts of a Heat template that determine the placement.

Heat validates the rest of a template.
"""

from nova_holistic.documents.schemas import common
from nova_holistic.documents.schemas.group import COUNT, LOCATION, MEMBER

VERSIONS = (
    '2013-05-23', '2014-10-16', '2015-04-30', '2015-10-15', '2016-04-08',
    '2016-10-14', '2017-02-24', '2017-09-01', '2018-03-02', '2018-08-31',
    '2021-04-16', 'newton', 'ocata', 'pike', 'queens', 'rocky', 'wallaby')
"""The versions of ``heat_template_version``."""

PARAMETER_TYPES = (
    'string', 'number', 'boolean', 'json', 'comma_delimited_list')

PARAMETER = {
    'type': 'object',
    'required': ['type'],
    'properties': {
        'type': {'enum': PARAMETER_TYPES},
        'constraints': {
            'type': ['array', 'null'], 'maxItems': 20,
            'items': {'type': 'object'}},
    },
}

RESOURCE = {
    'type': 'object',
    'required': ['type'],
    'properties': {'type': {'type': 'string'}},
}

TEMPLATE = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['heat_template_version', 'resources'],
    'properties': {
        'heat_template_version': {'enum': VERSIONS},
        'description': {},
        'parameter_groups': {},
        'parameters': {
            'type': 'object', 'additionalProperties': PARAMETER},
        'conditions': {},
        'resources': {
            'type': 'object', 'additionalProperties': RESOURCE},
        'outputs': {},
        'groups': {},
    },
}

ENTRY = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'name': {},
        'members': {'type': 'array'},
        'groups': {},
        'policies': {'type': 'array', 'maxItems': 1000},
        'relationships': {'type': 'array', 'maxItems': 1000},
    },
}
"""A group of the extension section."""

ENTRY_MEMBER = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['resource'],
    'properties': {
        'resource': {'type': 'string'},
        'traits': MEMBER['properties']['traits'],
        'aggregates': common.TEXTS,
        'location': LOCATION,
        'count': {
            'type': 'object',
            'additionalProperties': False,
            'properties': COUNT['then']['properties'],
        },
    },
}
"""A member with keys that its resource cannot have, with evaluated
functions."""
