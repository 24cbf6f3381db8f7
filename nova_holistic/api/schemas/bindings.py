# SPDX-License-Identifier: Apache-2.0
"""Schemas of bindings of server groups to members."""

from nova_holistic.api.schemas import common, members
from nova_holistic.table.coordination.bindings import BindingKind

_KIND = {'type': 'string', 'enum': [str(kind) for kind in BindingKind],
         'description': 'what is bound; the default is server-group'}

BIND = common.enveloped('binding', common.strict({
    'kind': _KIND, 'path': {
        **members.PATH, 'title': 'The path of a member, or of a nested group '
                                 'with one member; without it, the whole '
                                 'group.'}}))

_BINDING = common.whole({
    'kind': _KIND,
    'target': common.UUID,
    'path': common.ANY_TEXT,
    'created_at': common.TIME,
    'status': {'type': 'string', 'enum': ['active', 'deleted', 'unknown'],
               'description': 'deleted: Nova has no such server group; '
                              'unknown: Nova does not answer'}})
ONE = common.enveloped('binding', _BINDING)
MANY = common.enveloped('bindings', {'type': 'array', 'items': _BINDING})
