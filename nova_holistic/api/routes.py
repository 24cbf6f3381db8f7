# SPDX-License-Identifier: Apache-2.0
"""The API, as a table.

The dispatcher enforces each route's policy and schemas before it calls the
handler, and the OpenAPI description is generated from the same table.
"""

from nova_holistic.api.handlers import (
    adoption, bindings, discovery, events, federation, groups, hosts,
    members, plans)
from nova_holistic.api.requests import microversions
from nova_holistic.api.route import PUBLIC, Route
from nova_holistic.api.schemas import adoption as adoption_schemas
from nova_holistic.api.schemas import bindings as binding_schemas
from nova_holistic.api.schemas import common
from nova_holistic.api.schemas import discovery as discovery_schemas
from nova_holistic.api.schemas import events as event_schemas
from nova_holistic.api.schemas import federation as federation_schemas
from nova_holistic.api.schemas import groups as group_schemas
from nova_holistic.api.schemas import hosts as host_schemas
from nova_holistic.api.schemas import members as member_schemas
from nova_holistic.api.schemas import plans as plan_schemas

_GROUPS = '/v1/groups'
_GROUP = '/v1/groups/{group_id}'
_WAIT = group_schemas.WAIT_QUERY
_PLANNED = {202: group_schemas.ONE, 200: group_schemas.ONE}

ROUTES = (
    Route('GET', '/', discovery.versions, PUBLIC,
          {200: discovery_schemas.VERSIONS}),
    Route('GET', '/v1', discovery.version, PUBLIC,
          {200: discovery_schemas.VERSION}),
    Route('GET', '/v1/openapi.json', discovery.openapi, PUBLIC,
          {200: common.ANY_OBJECT}),

    Route('POST', _GROUPS, groups.create, 'groups:create',
          {202: group_schemas.ONE, 201: group_schemas.ONE},
          query=_WAIT, body=group_schemas.CREATE,
          headers=('Idempotency-Key',)),
    Route('GET', _GROUPS, groups.list_groups, 'groups:list',
          {200: group_schemas.MANY}, query=group_schemas.LIST_QUERY),
    Route('GET', _GROUP, groups.show, 'groups:show',
          {200: group_schemas.SHOWN}),
    Route('PUT', _GROUP, groups.update, 'groups:update', _PLANNED,
          query=_WAIT, body=group_schemas.UPDATE, headers=('If-Match',)),
    Route('DELETE', _GROUP, groups.delete, 'groups:delete', {204: None},
          headers=('If-Match',)),
    Route('POST', _GROUP + '/extend', groups.extend, 'groups:extend',
          {200: group_schemas.ONE}, body=group_schemas.EXTEND,
          headers=('If-Match',)),
    Route('POST', _GROUP + '/replan', groups.replan, 'groups:replan',
          _PLANNED, query=_WAIT, body=group_schemas.REPLAN,
          headers=('If-Match',)),
    Route('POST', _GROUP + '/repair', groups.repair, 'groups:repair',
          {200: group_schemas.REPAIR_PROPOSAL, 202: group_schemas.ONE},
          query=_WAIT, body=group_schemas.REPAIR, headers=('If-Match',)),

    Route('GET', _GROUP + '/events', events.list_events, 'groups:events',
          {200: event_schemas.MANY}, query=event_schemas.LIST_QUERY),

    Route('GET', _GROUP + '/bindings', bindings.list_bindings,
          'groups:bindings', {200: binding_schemas.MANY},
          since=microversions.BINDINGS),
    Route('PUT', _GROUP + '/bindings/{target}', bindings.bind,
          'groups:bind', {200: binding_schemas.ONE},
          body=binding_schemas.BIND, since=microversions.BINDINGS),
    Route('DELETE', _GROUP + '/bindings/{target}', bindings.unbind,
          'groups:unbind', {204: None}, since=microversions.BINDINGS),

    Route('POST', _GROUP + '/release', members.release, 'groups:release',
          {200: member_schemas.RELEASED}, body=member_schemas.RELEASE,
          headers=('If-Match',)),
    Route('POST', _GROUP + '/members', members.add, 'groups:add_members',
          _PLANNED, query=_WAIT, body=member_schemas.ADD,
          headers=('If-Match',)),
    Route('DELETE', _GROUP + '/members/{path:.+}', members.remove,
          'groups:remove_members', _PLANNED, query=_WAIT,
          headers=('If-Match',)),
    Route('POST', _GROUP + '/adopt', adoption.adopt, 'groups:adopt',
          _PLANNED, query=_WAIT, body=adoption_schemas.ADOPT,
          headers=('If-Match',), since=microversions.ADOPTION),
    Route('POST', _GROUP + '/detach', adoption.detach, 'groups:detach',
          {200: group_schemas.ONE}, body=adoption_schemas.DETACH,
          headers=('If-Match',), since=microversions.ADOPTION),
    Route('GET', _GROUP + '/placements', members.placements,
          'groups:placements', {200: member_schemas.PLACEMENTS}),

    Route('POST', '/v1/plans', plans.create, 'plans:create',
          {202: plan_schemas.ONE, 201: plan_schemas.ONE},
          query=_WAIT, body=plan_schemas.CREATE),
    Route('GET', '/v1/plans/{plan_id}', plans.show, 'plans:show',
          {200: plan_schemas.ONE}),

    Route('PUT', '/v1/hosts/{host}/statistics', hosts.update_statistics,
          'hosts:update_statistics', {204: None},
          body=host_schemas.STATISTICS),

    Route('GET', '/v1/children', federation.list_children,
          'federation:children', {200: federation_schemas.CHILDREN},
          since=microversions.CLOUDS),
    Route('PUT', '/v1/children/{child}/credential', federation.register,
          'federation:register', {204: None},
          body=federation_schemas.REGISTER, since=microversions.CLOUDS),
    Route('DELETE', '/v1/children/{child}/credential',
          federation.unregister, 'federation:register', {204: None},
          since=microversions.CLOUDS),
)
