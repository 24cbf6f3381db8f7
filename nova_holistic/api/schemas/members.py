# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about members of a group, and of their responses."""

from nova_holistic.api.schemas import common, documents, volume_creations
from nova_holistic.documents.schemas.group import (
    LOCATION, MAX_MEMBERS, MAX_PATH)
from nova_holistic.table.records import MemberState

PATH = {
    'type': 'string',
    'description': 'names from below the top-level group on, joined by '
                   f'single slashes: at most {MAX_PATH} characters',
    'minLength': 1,
    'maxLength': MAX_PATH,
    'pattern': LOCATION['pattern'],
}
PATHS = {'type': 'array', 'maxItems': MAX_MEMBERS, 'items': PATH}
_NAMES = {'type': 'array', 'items': common.ANY_TEXT}

ADD = common.enveloped('members', {
    'type': 'array', 'minItems': 1, 'maxItems': MAX_MEMBERS,
    'items': documents.MEMBER})
RELEASE = common.enveloped('release', common.strict({'members': PATHS}))
RELEASED = common.whole({'released': _NAMES, 'kept': _NAMES})

_POINTER = {**common.whole({
    'holistic_group': common.UUID, 'holistic_member': common.ANY_TEXT}),
    'title': 'Scheduler hints of the server, in that cloud.'}
PLACEMENTS = common.enveloped('placements', {
    'type': 'array',
    'items': common.strict({
        'member': common.ANY_TEXT,
        'state': {'enum': [str(state) for state in MemberState]},
        'instance_uuid': common.ANY_TEXT_OR_NULL,
        'host': common.ANY_TEXT,
        'node': common.ANY_TEXT,
        'location': {'type': 'array', 'items': common.ANY_TEXT},
        'cloud': {**common.ANY_TEXT, 'title':
                  'Cloud of the member: a child of this parent of a '
                  'federation; a path of several names if the child is itself '
                  'a parent; only from version 1.3 on, and only from a '
                  'parent.'},
        'pointer': _POINTER,
    }, 'member', 'state', 'instance_uuid')}, volumes={
        'type': 'array', 'title': 'Only from version 1.6 on.',
        'items': common.strict({
            'member': common.ANY_TEXT,
            'state': {'enum': [str(state) for state in MemberState]},
            'volume_id': common.ANY_TEXT_OR_NULL,
            'size': {'type': 'integer', 'minimum': 1, 'title': 'GiB.'},
            'volume_type': common.ANY_TEXT_OR_NULL,
            'pool': {**common.ANY_TEXT, 'title': 'Pool in Cinder.'},
            'creation': {**volume_creations.OF_VOLUME_OR_NULL,
                         'title': 'Only from version 1.7 on.'},
            'location': {'type': 'array', 'items': common.ANY_TEXT},
        }, 'member', 'state', 'volume_id', 'size', 'volume_type')})
