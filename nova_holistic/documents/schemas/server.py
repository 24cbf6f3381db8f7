# SPDX-License-Identifier: Apache-2.0
"""Schema of the key ``server`` of a member description.

It accepts the same values as Nova's own schema of create requests in version
2.94 of its API, without the keys that the member description or the group
determines.
Nova's schema is not imported, because clients plan and check documents without
Nova, and because importing Nova replaces parts of Python's standard library in
the process. A test compares both schemas with the installed Nova.
"""

from nova_holistic.documents.schemas import common

NOVA_VERSION = '2.94'
"""Version of Nova's API whose create requests have this schema. Every
supported version of Nova has it."""

MAX_TAGS = 49
"""One less than Nova accepts, because the tag of the group is added."""

DEVICES = 'block_device_mapping_v2'

_UUID = {'type': 'string', 'format': 'server-uuid', 'description': 'a UUID'}
_NAME = {
    'type': 'string', 'format': 'server-name', 'minLength': 1,
    'maxLength': 255,
    'description': '1 to 255 printable characters, without spaces at the '
                   'start or the end'}
_BOOLEAN = {
    'enum': [True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES',
             'Yes', 'yes', False, 'False', 'FALSE', 'false', '0', 'OFF',
             'Off', 'off', 'NO', 'No', 'no'],
    'description': 'true or false'}
_IP = {
    'type': 'string',
    'anyOf': [{'format': 'ipv4'}, {'format': 'ipv6'}],
    'description': 'an IP address'}
_IP4 = {'type': 'string', 'format': 'ipv4',
        'description': 'an IPv4 address'}
_IP6 = {'type': 'string', 'format': 'ipv6',
        'description': 'an IPv6 address'}
_TAG = {
    'type': 'string', 'pattern': '^[^,/]*$', 'minLength': 1, 'maxLength': 60,
    'description': '1 to 60 characters, without "," and "/"'}


def _text(most: int, least: int = 0) -> dict:
    return {'type': 'string', 'minLength': least, 'maxLength': most,
            'description': f'{least} to {most} characters'}


def _either_none(schema: dict) -> dict:
    return {**schema, 'type': [schema['type'], 'null']}


NETWORKS = {
    'description': 'a list of networks, or auto or none',
    'if': {'type': 'array'},
    'then': {
        'items': {
            'type': 'object',
            'additionalProperties': False,
            'properties': {
                'uuid': _UUID, 'port': _either_none(_UUID),
                'fixed_ip': _IP, 'tag': _TAG},
        },
    },
    'else': {'enum': ['none', 'auto'],
             'description': 'a list of networks, or auto or none'},
}

DEVICE = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'source_type': {'enum': ['volume', 'image', 'snapshot', 'blank']},
        'destination_type': {'enum': ['local', 'volume']},
        'uuid': {
            'type': 'string', 'minLength': 1, 'maxLength': 255,
            'pattern': '^[a-zA-Z0-9._-]*$',
            'description': 'the UUID of a volume, image or snapshot'},
        'volume_id': _UUID, 'snapshot_id': _UUID, 'image_id': _UUID,
        'volume_size': {
            'type': ['integer', 'string'], 'format': 'volume-size',
            'minimum': 1, 'maximum': common.MAX_AMOUNT,
            'description': 'a number of GiB, at least 1'},
        'volume_type': _either_none(_text(255)),
        'boot_index': {
            'type': ['integer', 'string', 'null'], 'pattern': '^-?[0-9]+$',
            'description': 'a whole number'},
        'delete_on_termination': _BOOLEAN,
        'device_name': {
            **_text(255, 1), 'pattern': '^[a-zA-Z0-9._/-]*$',
            'description': '1 to 255 letters, digits, ".", "_", "/" or "-"'},
        'device_type': _text(255), 'disk_bus': _text(255),
        'guest_format': _text(255), 'virtual_name': _text(255),
        'connection_info': _text(16777215),
        'no_device': {},
        'tag': _TAG,
    },
}

SERVER = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'name': {
            'type': 'string', 'minLength': 1, 'maxLength': 255,
            'description': '1 to 255 characters, in which {group}, {path}, '
                           '{member} and {index} stand for names'},
        'flavorRef': {
            'type': ['string', 'integer'], 'minLength': 1,
            'description': 'the ID of a flavor'},
        'imageRef': {
            'type': 'string',
            'anyOf': [{'format': 'server-uuid'}, {'maxLength': 0}],
            'description': 'the UUID of an image'},
        DEVICES: {'type': 'array', 'items': DEVICE},
        'networks': NETWORKS,
        'key_name': _NAME,
        'security_groups': {
            'type': 'array',
            'items': {
                'type': 'object',
                'additionalProperties': False,
                'properties': {'name': _NAME},
            },
        },
        'user_data': {
            'type': 'string', 'format': 'base64', 'maxLength': 65535,
            'description': 'Base64 of at most 65535 characters'},
        'metadata': {
            'type': 'object',
            'propertyNames': {
                'pattern': '^[a-zA-Z0-9_:. -]{1,255}$',
                'description': '1 to 255 letters, digits, "-", "_", ":", "." '
                               'or spaces'},
            'additionalProperties': _text(255),
        },
        'config_drive': _BOOLEAN,
        'tags': {'type': 'array', 'items': _TAG, 'maxItems': MAX_TAGS},
        'description': {
            'type': ['string', 'null'], 'format': 'printable',
            'maxLength': 255,
            'description': 'at most 255 printable characters'},
        'hostname': {
            **_text(255, 1), 'pattern': '^[a-zA-Z0-9._-]*$',
            'description': '1 to 255 letters, digits, "-", "." or "_"'},
        'accessIPv4': _IP4,
        'accessIPv6': _IP6,
        'OS-DCF:diskConfig': {'enum': ['AUTO', 'MANUAL']},
        'trusted_image_certificates': {
            'type': ['array', 'null'], 'minItems': 1, 'maxItems': 50,
            'uniqueItems': True, 'items': {'type': 'string', 'minLength': 1},
            'description': 'a list of 1 to 50 different IDs'},
    },
}
"""All keys except ``name`` have the same meaning as in a create request to
Nova."""

REFUSED = {
    'adminPass': 'the group would show the password to the users of its '
                 'project',
    'availability_zone': 'the member description names the zone',
    'block_device_mapping': f'use {DEVICES}',
    'host': 'the plan determines the host',
    'hypervisor_hostname': 'the plan determines the node',
    'max_count': 'each member is one server: use the count of the member',
    'min_count': 'each member is one server: use the count of the member',
    'os:scheduler_hints': 'the hints are those of the group',
    'personality': f'version {NOVA_VERSION} of Nova\'s API has no such key',
    'return_reservation_id': 'each member is one server',
    'scheduler_hints': 'the hints are those of the group',
}
"""Keys of a create request to Nova that a member cannot have, with the
reasons."""
