# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about plans without holds, and of their
responses."""

from nova_holistic.api.schemas import common, documents
from nova_holistic.api.schemas.groups import OBJECTIVE
from nova_holistic.documents.schemas import plan
from nova_holistic.documents.schemas.relaxations import (
    HEADROOM, RELAXATIONS)
from nova_holistic.table.records import PlanStatus

CREATE = common.enveloped(
    'group', documents.GROUP, objective=OBJECTIVE,
    relaxations={'type': 'boolean', 'title':
                 'Whether the response for an unplaceable group contains '
                 'changes that make it fit.'},
    headroom={'type': 'boolean', 'title':
              'Whether the response contains the number of copies of the '
              'group that fit.'})

_LIST_OF_OBJECTS = {'type': 'array', 'items': common.ANY_OBJECT}

ONE = common.enveloped('plan', common.strict({
    'id': common.UUID,
    'status': {'enum': [str(status) for status in PlanStatus]},
    'links': common.LINKS,
    'group': common.ANY_TEXT,
    'placements': {'type': 'array', 'items': common.strict({
        'member': common.ANY_TEXT,
        'host': common.ANY_TEXT,
        'node': common.ANY_TEXT,
        'location': {'type': 'array', 'items': common.ANY_TEXT},
    }, 'member')},
    'objective': plan.OBJECTIVE,
    'preferences': {'type': 'array', 'items': plan.PREFERENCE},
    'preference_cost': plan.PREFERENCE_COST,
    'warnings': {'type': 'array', 'items': common.REASON,
                 'title': 'Requirements of the group that the plan does not '
                          'guarantee.'},
    'seconds': common.ANY_OBJECT,
    'explain': _LIST_OF_OBJECTS,
    'reasons': {'type': 'array', 'items': common.REASON},
    'minimal': {'type': 'boolean'},
    'message': common.ANY_TEXT,
    'relaxations': RELAXATIONS,
    'headroom': HEADROOM,
}, 'id', 'status', 'links'))
