# SPDX-License-Identifier: Apache-2.0
"""Schemas of bindings of server groups and Heat stacks to members."""

from nova_holistic.api.schemas import common, members
from nova_holistic.documents.schemas.group import MAX_PATH
from nova_holistic.table.coordination.bindings import BindingKind

MAX_RULES = 100

_KIND = {'type': 'string', 'enum': [str(kind) for kind in BindingKind],
         'title': 'What is bound; the default is server-group.'}
_NAMES = {'type': 'string', 'minLength': 1, 'maxLength': MAX_PATH,
          'description': 'names joined by single slashes: at most '
                         f'{MAX_PATH} characters',
          'pattern': r'^[^/\x00-\x1f\x7f]+(/[^/\x00-\x1f\x7f]+)*\Z'}
_RULE = common.strict({
    'resource': {
        **_NAMES,
        'title': 'Names of resources from the top-level stack down to the '
                 'server; * is any one name.'},
    'member': {
        **_NAMES,
        'title': 'Path of a member below the path of the binding; each * is '
                 'replaced by the name that matches the * of the same number '
                 'in the resource; without it, the path of the binding.'}},
    'resource')

TARGET = {**common.STACK, 'description': 'the UUID of a server group, or the '
                                         'name or the ID of a stack of Heat'}

BIND = common.enveloped('binding', common.strict({
    'kind': _KIND, 'path': {
        **members.PATH, 'title': 'The path of a member, or of a nested group '
                                 'with one member; without it, the whole '
                                 'group. A Heat stack may have the path of '
                                 'any nested group.'},
    'rules': {'type': 'array', 'maxItems': MAX_RULES, 'items': _RULE,
              'title': 'Of a Heat stack: the first rule whose resource '
                       'matches a server determines its member.'}}))

_BINDING = common.strict({
    'kind': _KIND,
    'target': common.ANY_TEXT,
    'path': common.ANY_TEXT,
    'created_at': common.TIME,
    'status': {'type': 'string',
               'enum': ['active', 'deleted', 'unknown', 'unchecked'],
               'description': 'deleted: Nova has no such server group; '
                              'unknown: Nova does not answer; unchecked: '
                              'the binding of a Heat stack'},
    'rules': {'type': 'array', 'items': common.whole(
        {'resource': common.ANY_TEXT, 'member': common.ANY_TEXT})},
}, 'kind', 'target', 'path', 'created_at', 'status')
ONE = common.enveloped('binding', _BINDING)
MANY = common.enveloped('bindings', {'type': 'array', 'items': _BINDING})
