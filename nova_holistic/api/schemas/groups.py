# SPDX-License-Identifier: Apache-2.0
"""Schemas of the requests about groups, and of their responses."""

from nova_holistic.api.schemas import (
    actions, adoption, boots, common, documents, volume_creations)
from nova_holistic.documents.schemas import plan
from nova_holistic.messaging.payloads import MAX_SECONDS
from nova_holistic.table.queries.group_page import SORT_KEYS
from nova_holistic.table.records import GroupStatus, MemberState, Task

MAX_LEASE = MAX_SECONDS

OBJECTIVE = {
    **common.TEXT, 'title': 'Name of an installed objective.'}

CREATE = common.enveloped(
    'group', documents.GROUP, objective=OBJECTIVE,
    lease={'type': 'integer', 'minimum': 0, 'maximum': MAX_LEASE,
           'title': 'Seconds; 0 means no lease.'},
    strict=adoption.STRICT, boot=boots.REQUEST)
UPDATE = common.enveloped('group', documents.GROUP, objective=OBJECTIVE,
                          strict=adoption.STRICT, apply=actions.APPLY)
EXTEND = common.enveloped('extend', common.whole({
    'seconds': {'type': 'integer', 'minimum': 1, 'maximum': MAX_LEASE}}))
REPLAN = common.enveloped('replan', common.NOTHING)
REPAIR = common.enveloped('repair', common.strict({
    'apply': {'type': 'boolean',
              'title': 'Whether the live migrations are carried out.'}}))
REPAIR_PROPOSAL = common.enveloped('repair', common.whole({
    'moves': {'type': 'array', 'items': common.whole({
        'member': common.ANY_TEXT, 'instance_uuid': common.UUID,
        'source': common.ANY_TEXT, 'destination': common.ANY_TEXT})},
    'planned_again': {'type': 'array', 'items': common.ANY_TEXT},
    'reasons': {'type': 'array', 'items': common.REASON}}))

LIST_QUERY = common.strict({
    'limit': {'type': 'integer', 'minimum': 0,
              'maximum': common.MAX_SECONDS,
              'title': 'Maximum number of groups; the API reduces a larger '
                       'number to its own limit.'},
    'marker': {**common.UUID, 'title': 'The last group of the previous page.'},
    'position': {'type': 'string', 'pattern': r'^[A-Za-z0-9_-]{1,8000}\Z',
                 'title': 'Only in a link to the next page: the position of '
                          'the marker. The list continues there even if the '
                          'group of the marker was deleted.'},
    'sort_key': {'type': 'string', 'enum': list(SORT_KEYS)},
    'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
    'name': common.TEXT,
    'status': {'type': 'array', 'uniqueItems': True, 'minItems': 1,
               'items': {'type': 'string',
                         'enum': [str(s) for s in GroupStatus]}},
    'project_id': common.TEXT,
    'all_projects': {'type': 'boolean'},
})
WAIT_QUERY = common.strict({'wait': common.WAIT})

_BRIEF = {
    'id': common.UUID,
    'name': common.ANY_TEXT,
    'project_id': common.ANY_TEXT,
    'user_id': common.ANY_TEXT,
    'status': {'enum': [str(s) for s in GroupStatus]},
    'task': {'enum': [None, *(str(t) for t in Task)]},
    'revision': {'type': 'integer', 'minimum': 1},
    'objective': common.ANY_TEXT,
    'reasons': {'type': 'array', 'items': common.REASON},
    'violations': {'type': 'array', 'items': common.REASON},
    'lease_expires_at': common.TIME_OR_NULL,
    'created_at': common.TIME_OR_NULL,
    'updated_at': common.TIME_OR_NULL,
    'members': common.strict({
        str(state): {'type': 'integer', 'minimum': 1}
        for state in MemberState}),
    'holds_written': {
        'type': ['integer', 'null'], 'minimum': 0,
        'title': 'Number of members whose holds are already in Placement '
                 'while the group is planning.'},
    'links': common.LINKS,
}
_KEY = {'idempotency_key': common.ANY_TEXT_OR_NULL}
"""Only from version 1.3 on."""
BRIEF = common.strict({**_BRIEF, **_KEY}, *_BRIEF)
_ACTIONS = {'actions': actions.ACTIONS}
"""Only from version 1.2 on."""
_OBJECTIVE_VALUE = {'objective_value': {
    'type': ['object', 'null'], 'additionalProperties': False,
    'required': [*plan.OBJECTIVE['required'], 'kept'],
    'properties': {
        **plan.OBJECTIVE['properties'],
        'kept': {'type': 'integer', 'minimum': 0,
                 'title': 'Number of members that the plan kept at their '
                          'places: no plan that keeps them costs less than '
                          'the bound.'}},
    'title': 'The latest plan of the group by its objective; null if the '
             'group has no plan.'}}
"""Only from version 1.4 on."""
_NUMBER = {'type': 'integer', 'minimum': 0}
COUNT = common.whole({
    'path': {**common.ANY_TEXT,
             'title': 'Path of a member or a nested group whose number may '
                      'change.'},
    'min': _NUMBER, 'desired': _NUMBER, 'max': _NUMBER,
    'number': {**_NUMBER,
               'title': 'Servers, or replicas, that are planned or exist.'},
    'missing': {**_NUMBER,
                'title': 'Number by which fewer are planned or exist than '
                         'are desired; the reasons state why.'}})
_SHOWN = {**_BRIEF, 'counts': {'type': 'array', 'items': COUNT},
          'definition': common.ANY_OBJECT}
ONE = common.enveloped('group', common.strict(
    {**_BRIEF, **_KEY, **_ACTIONS, **_OBJECTIVE_VALUE}, *_BRIEF))
SHOWN = common.enveloped('group', common.strict(
    {**_SHOWN, **_KEY, **_ACTIONS, **_OBJECTIVE_VALUE,
     'boot': boots.OR_NULL, 'volume_creation': volume_creations.OR_NULL},
    *_SHOWN))
MANY = common.enveloped(
    'groups', {'type': 'array', 'items': BRIEF}, groups_links=common.LINKS)
