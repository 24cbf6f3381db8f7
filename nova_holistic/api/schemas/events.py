# SPDX-License-Identifier: Apache-2.0
"""Schemas of the history of a group."""

from nova_holistic.api.schemas import common, members
from nova_holistic.table.history.events import Kind

KIND = {'type': 'string', 'enum': [str(kind) for kind in Kind
                                   if kind is not Kind.GROUP_DELETED]}
"""The history of a deleted group is deleted with it."""

LIST_QUERY = common.strict({
    'limit': {'type': 'integer', 'minimum': 0,
              'maximum': common.MAX_SECONDS,
              'title': 'Maximum number of events on one page. The API has its '
                       'own limit in addition.'},
    'marker': {'type': 'integer', 'minimum': 0,
               'title': 'The id of the last event on the previous page.'},
    'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
    'since': {'type': 'string', 'format': 'date-time',
              'title': 'Leave out earlier events. ISO 8601; UTC if it names '
                       'no time zone.'},
    'member': {**members.PATH, 'title': 'Only events of this member.'},
    'kind': KIND,
})

_EVENT = {
    'id': {'type': 'integer', 'minimum': 1},
    'at': common.TIME,
    'kind': KIND,
    'member': common.ANY_TEXT_OR_NULL,
    'from_state': common.ANY_TEXT_OR_NULL,
    'to_state': common.ANY_TEXT_OR_NULL,
    'reasons': {'type': 'array', 'items': common.REASON},
    'details': common.strict({
        **{name: {'type': 'integer', 'minimum': 0}
           for name in ('members', 'added', 'moved', 'removed', 'volumes',
                        'tries')},
        'lease_expires_at': common.TIME_OR_NULL,
        'server': common.ANY_TEXT_OR_NULL,
        **{name: common.ANY_TEXT
           for name in ('by', 'binding', 'target', 'path')}}),
    'service': common.ANY_TEXT,
    'request_id': common.ANY_TEXT_OR_NULL,
    'user_id': common.ANY_TEXT_OR_NULL,
}
MANY = common.enveloped('events', {
    'type': 'array', 'items': common.strict(
        {**_EVENT, 'host': common.ANY_TEXT_OR_NULL}, *_EVENT),
}, events_links=common.LINKS)
