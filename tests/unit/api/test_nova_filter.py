# SPDX-License-Identifier: Apache-2.0
"""The filter in front of an application that replaces Nova's."""

import io
import json
import types
import uuid

from oslo_middleware import sizelimit
import pytest
import webob

from nova_holistic.api.nova_filter import NovaFilter
from nova_holistic.table.coordination.bindings import Binding, BindingKind
from nova_holistic.table.store import PlacementTable
from tests.unit.api.service import NOON, refusal, SHOP
from tests.unit.table import builders

CREATE = json.dumps({'server': {'name': 'one'}, 'os:scheduler_hints': {
    'holistic_group': str(uuid.uuid4()), 'holistic_member': 'web'}}).encode()


def nova(environ, start_response):
    """Responds with the path and the body of the request."""
    request = webob.Request(environ)
    return webob.Response(
        body=request.path.encode() + b' ' + request.body)(
            environ, start_response)


def ann(**more):
    """The environment after Nova's filter keystonecontext."""
    return types.SimpleNamespace(**{
        'user_id': 'ann', 'project_id': 'blue', 'domain_id': None,
        'user_domain_id': 'default', 'project_domain_id': 'default',
        'system_scope': None, 'roles': ['member', 'reader'],
        'is_admin_project': True, 'request_id': 'req-of-nova',
        'global_request_id': None, **more})


@pytest.fixture
def ask(service):
    """A function that sends a request to nova-api with the filter."""
    app = NovaFilter(nova, service.conf, service.table, service.engines)

    def ask(method, path, raw=b'', context=None, app=app, **environ):
        request = webob.Request.blank(
            path, method=method, base_url='http://nova/v2.1', environ={
                'nova.context': context or ann(), **environ})
        request.body_file = io.BytesIO(raw)
        request.content_length = None
        request.content_type = 'application/json'
        return request.get_response(app)
    ask.app = app
    return ask


@pytest.mark.parametrize('number', ['1e999', 'Infinity', '-Infinity', 'NaN'])
@pytest.mark.parametrize('key', ['min_count', 'max_count'])
def test_nova_answers_a_create_with_an_infinite_number(
        ask, service, key, number):
    raw = json.dumps({'server': {key: 'NUMBER'}, 'os:scheduler_hints': {
        'holistic_group': builders.planned(service.table, web=None).uuid,
        'holistic_member': 'db/web'}})
    raw = raw.replace('"NUMBER"', number).encode()
    assert ask('POST', '/servers', raw).body == b'/v2.1/servers ' + raw


@pytest.mark.parametrize('method, path, raw', [
    ('GET', '/servers/detail', b''), ('POST', '/os-keypairs', CREATE),
    ('POST', '/servers/1/action', CREATE), ('PUT', '/servers', CREATE),
    ('POST', '/servers', b'{"server": {"name": "one"}}'),
    ('POST', '/servers', b'no JSON'), ('POST', '/servers', b'[1]'),
    ('POST', '/servers', b'{"os:scheduler_hints": 5}'),
    ('POST', '/servers', b'[' * 100_000),
    ('GET', '/os-keypairs/os-holistic-groups', b''),
    ('DELETE', '/os-keypairs/os-holistic-plans', b''),
    ('GET', '/red/os-holistic-groups', b''),
    ('GET', '/os-holistic-groupsies', b''), ('GET', '/os-holistic', b'')])
def test_other_requests_reach_nova_unchanged(ask, method, path, raw):
    answer = ask(method, path, raw)
    assert answer.body == f'/v2.1{path} '.encode() + raw


@pytest.mark.parametrize('path', [
    '/servers', '/servers/', '/blue/servers', '/os-volumes_boot'])
def test_a_create_with_an_unknown_pointer_is_refused(ask, path):
    answer = ask('POST', path, CREATE)
    assert answer.status_int == 400
    assert answer.json['badRequest']['code'] == 400
    assert 'is not known in this project' in (
        answer.json['badRequest']['message'])


def test_a_server_group_of_another_project_is_not_revealed(ask, service):
    """Nova answers as for every server group that the project does not
    have."""
    server_group = str(uuid.uuid4())
    group = builders.planned(service.table, web=None)
    assert service.table.bindings.add(Binding(
        BindingKind.SERVER_GROUP, server_group, group.uuid, 'db/web', NOON))
    raw = json.dumps({
        'server': {'name': 'one', 'min_count': 2},
        'os:scheduler_hints': {'group': server_group}}).encode()
    own = ask('POST', '/servers', raw)
    assert own.status_int == 400
    assert group.uuid in own.json['badRequest']['message']
    other = ask('POST', '/servers', raw, ann(project_id='green'))
    assert other.body == b'/v2.1/servers ' + raw


@pytest.mark.parametrize('member', ['\ud800', 'a\0b', '\n'])
def test_a_pointer_with_invalid_characters_is_refused(ask, member):
    answer = ask('POST', '/servers', CREATE.replace(
        b'"web"', json.dumps(member).encode()))
    assert answer.status_int == 400
    assert 'holistic_member' in answer.json['badRequest']['message']


def test_a_create_reaches_nova_without_the_table(service):
    nowhere = PlacementTable('sqlite:////nowhere/table.sqlite')
    app = NovaFilter(nova, service.conf, nowhere, service.engines)
    request = webob.Request.blank('/servers', POST=CREATE, environ={
        'nova.context': ann()})
    assert request.get_response(app).body.endswith(CREATE)


def test_the_user_and_project_come_from_novas_context(ask, service):
    body = json.dumps({'group': SHOP}).encode()
    answer = ask('POST', '/os-holistic-groups', body)
    assert answer.status_int == 202
    group = answer.json['group']
    assert (group['project_id'], group['user_id']) == ('blue', 'ann')
    assert answer.headers['X-Openstack-Request-Id'] == 'req-of-nova'
    assert answer.headers['Location'] == (
        f'http://nova/v2.1/os-holistic-groups/{group["id"]}')
    assert service.table.get_group(group['id']).pending['request_id'] == (
        'req-of-nova')
    assert ask('GET', f'/os-holistic-groups/{group["id"]}', context=ann(
        user_id='eve', project_id='green')).status_int == 404


def test_the_roles_come_from_novas_context(ask):
    body = json.dumps({'group': SHOP}).encode()
    answer = ask('POST', '/os-holistic-groups', body,
                 context=ann(roles=['reader']))
    assert refusal(answer)[:2] == (403, 'holistic.forbidden')
    everybody = '/os-holistic-groups?all_projects=true'
    assert ask('GET', everybody).status_int == 403
    assert ask('GET', everybody, context=ann(
        roles=['admin', 'member', 'reader'])).status_int == 200


@pytest.mark.parametrize('part, place', [
    ({'policies': [{'type': 'exclusive', 'level': 'az'}]},
     'policies[0].level'),
    ({'policies': [{'type': 'location', 'path': 'az1/cmp-1'}]},
     'policies[0].path')])
@pytest.mark.parametrize('path', ['/os-holistic-groups', '/os-holistic-plans'])
def test_definitions_need_the_same_rights_as_elsewhere(
        ask, service, path, part, place):
    body = json.dumps({'group': {**SHOP, **part}}).encode()
    status, _, detail = refusal(ask('POST', path, body))
    assert status == 403
    assert detail.startswith(f'{place}: policy does not allow ')
    assert service.engines.asked == []
    assert ask('POST', path, body, context=ann(
        roles=['admin', 'member', 'reader'])).status_int == 202


def test_a_request_without_novas_context_is_refused(ask):
    request = webob.Request.blank('/os-holistic-groups', headers={
        'X-Identity-Status': 'Confirmed', 'X-User-Id': 'ann',
        'X-Project-Id': 'blue', 'X-Roles': 'member,reader'})
    assert refusal(request.get_response(ask.app))[:2] == (
        401, 'holistic.unauthorized')


def test_novas_body_size_limit_is_reported_as_413(ask):
    limited = sizelimit.RequestBodySizeLimiter(ask.app)
    raw = json.dumps({'group': SHOP}).encode() + b' ' * 200_000
    answer = ask('POST', '/os-holistic-groups', raw, app=limited)
    assert refusal(answer)[:2] == (413, 'holistic.body_too_large')
    assert ask('POST', '/servers', raw, app=limited).status_int == 413
