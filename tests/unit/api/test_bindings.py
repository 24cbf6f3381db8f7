# SPDX-License-Identifier: Apache-2.0
"""Server groups of Nova that are bound to members, over the API."""

import json

import pytest
import webob

from nova_holistic.api.nova_filter import NovaFilter
from nova_holistic.messaging import errors
from nova_holistic.table.coordination.bindings import Binding, BindingKind
from tests.statements import recorded
from tests.unit.api.service import NOON, refusal, shown_binding
from tests.unit.api.test_nova_filter import ann, nova
from tests.unit.table import builders

LATEST = {'OpenStack-API-Version': 'holistic latest'}
SERVER_GROUP = '00000000-0000-4000-8000-00000000000a'
OTHER = '00000000-0000-4000-8000-00000000000b'


def send(service, method, group, target='', body=None, headers=LATEST):
    return service.ask(
        method, f'/v1/groups/{group}/bindings' + (target and f'/{target}'),
        body, headers=headers)


def bound(table, group, path='db/node', target=SERVER_GROUP):
    assert table.bindings.add(Binding(
        BindingKind.SERVER_GROUP, target, group, path, NOON))


@pytest.mark.parametrize('body, path', [
    ({}, ''), ({'path': 'node'}, 'node'),
    ({'kind': 'server-group', 'path': 'db/a'}, 'db/a')])
def test_an_engine_binds_a_server_group(service, body, path):
    group = service.planned()
    answer = send(service, 'PUT', group, SERVER_GROUP, {'binding': body})
    assert answer.status_int == 200
    assert answer.json['binding'] == {
        'kind': 'server-group', 'target': SERVER_GROUP, 'path': path,
        'status': 'active', 'created_at': '2030-01-01T12:00:00Z'}
    assert service.engines.asked[-1] == ('bind', group, path, SERVER_GROUP)


def test_a_refused_binding_has_a_reason(service):
    def refuse(*_):
        raise errors.BindingRefused('the plan contradicts it')

    service.engines.acts['bind'] = refuse
    answer = send(service, 'PUT', service.planned(), SERVER_GROUP,
                  {'binding': {}})
    assert refusal(answer) == (
        409, 'holistic.conflict', 'the plan contradicts it')


@pytest.mark.parametrize('body', [
    {}, {'binding': {'path': ''}}, {'binding': {'path': 'a//b'}},
    {'binding': {'kind': 'heat'}}, {'binding': {'host': 'cmp-1'}}])
def test_a_wrong_body_is_refused(service, body):
    answer = send(service, 'PUT', service.planned(), SERVER_GROUP, body)
    assert answer.status_int == 400
    assert service.engines.asked[-1][0] != 'bind'


@pytest.mark.parametrize('target', ['mine', SERVER_GROUP.upper()])
def test_a_target_must_be_a_uuid(service, target):
    answer = send(service, 'PUT', service.planned(), target, {'binding': {}})
    assert refusal(answer)[0] == 404


def test_bindings_are_listed_with_their_status(service):
    service.engines.acts['bindings'] = lambda _: [
        shown_binding(SERVER_GROUP), shown_binding(OTHER, 'db', 'deleted')]
    found = send(service, 'GET', service.planned()).json['bindings']
    assert [(each['target'], each['status']) for each in found] == [
        (SERVER_GROUP, 'active'), (OTHER, 'deleted')]


def test_an_unbound_server_group_is_not_found(service):
    group, other = service.planned(), service.planned()
    bound(service.table, group)
    assert refusal(send(service, 'DELETE', other, SERVER_GROUP))[0] == 404
    assert send(service, 'DELETE', group, SERVER_GROUP).status_int == 204
    assert refusal(send(service, 'DELETE', group, SERVER_GROUP))[0] == 404


@pytest.mark.parametrize('headers', [
    {}, {'OpenStack-API-Version': 'holistic 1.0'}])
def test_the_first_version_has_no_bindings(service, headers):
    group = service.planned()
    for method, target, body in (('GET', '', None), (
            'PUT', SERVER_GROUP, {'binding': {}}),
            ('DELETE', SERVER_GROUP, None)):
        answer = send(service, method, group, target, body, headers)
        assert refusal(answer)[:2] == (404, 'holistic.not_found')
        assert 'it needs OpenStack-API-Version: holistic 1.1' in (
            refusal(answer)[2])
        assert answer.headers['OpenStack-API-Version'] == 'holistic 1.0'


@pytest.fixture
def create(service):
    """A function that creates a server with hints. It returns None after a
    success, and otherwise the message of the refusal."""
    app = NovaFilter(nova, service.conf, service.table, service.engines)

    def create(**hints):
        request = webob.Request.blank(
            '/servers', method='POST', environ={'nova.context': ann()})
        request.body = json.dumps({
            'server': {'name': 'one'}, 'os:scheduler_hints': hints}).encode()
        answer = request.get_response(app)
        if answer.status_int == 200:
            # Nova received the unchanged request.
            assert answer.body.endswith(request.body)
            return None
        assert answer.status_int == 400
        return answer.json['badRequest']['message']

    return create


def test_nova_api_refuses_a_create_without_a_place(create, service):
    """A create with a server group is refused like a create with a pointer."""
    group = builders.planned(service.table, web=None, node=1)
    bound(service.table, group.uuid)
    assert create(group=SERVER_GROUP) is None
    service.table.claim(group.uuid, 'db/node', builders.new_uuid(), NOON)
    assert 'is claimed' in create(group=SERVER_GROUP)
    for hint in OTHER, ['x'], 5:
        assert create(group=hint) is None


def test_nova_api_refuses_a_contradicting_pointer(create, service):
    group = builders.planned(service.table, web=None, node=2)
    bound(service.table, group.uuid)
    for path in 'db/node', 'db/node-1':
        assert create(group=SERVER_GROUP, holistic_group=group.uuid,
                      holistic_member=path) is None
    assert 'is bound to another member' in create(
        group=SERVER_GROUP, holistic_group=group.uuid,
        holistic_member='db/web')


@pytest.mark.parametrize('hints, number', [
    ({}, 0), ({'group': OTHER}, 1), ({'different_host': OTHER}, 0)])
def test_a_create_sends_few_statements_in_nova_api(
        service, create, hints, number):
    with recorded(service.table.database.engine) as sent:
        assert create(**hints) is None
    assert len(sent.statements) == number
