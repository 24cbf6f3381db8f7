# SPDX-License-Identifier: Apache-2.0
"""Access to each route with each kind of token."""

from dataclasses import replace
import logging
import re

import pytest

from nova_holistic.api.route import PUBLIC
from nova_holistic.api.routes import ROUTES
from nova_holistic.table.coordination.bindings import Binding, BindingKind
from nova_holistic.table.records import MemberState
from tests.unit.api.service import (
    ADMIN, DOMAIN, MEMBER, NOON, OTHER_SERVICE, READER, refusal, SHOP,
    OTHER_PROJECT, SYSTEM, UNSCOPED)
from tests.unit.table import builders

NO_UUID = '00000000-0000-4000-8000-000000000000'
SERVER = '11111111-1111-4111-8111-111111111111'
GUARDED = [route for route in ROUTES if route.policy is not PUBLIC]
BODIES = {
    'groups:create': {'group': SHOP}, 'groups:update': {'group': SHOP},
    'groups:extend': {'extend': {'seconds': 9}},
    'groups:replan': {'replan': {}}, 'groups:repair': {'repair': {}},
    'groups:release': {'release': {}}, 'groups:bind': {'binding': {}},
    'groups:adopt': {'adopt': {'node-0': SERVER}},
    'groups:detach': {'detach': {'member': 'db/one'}},
    'groups:add_members': {'members': [
        {'name': 'more', 'resources': {'VCPU': 1}}]},
    'plans:create': {'group': SHOP},
    'hosts:update_statistics': {'statistics': {'heat': 1.5}},
    'federation:register': {'credential': {'id': 'a', 'secret': 'b'}}}
ADMIN_ONLY = {'groups:repair', 'hosts:update_statistics'}
READING = {'groups:list', 'groups:show', 'groups:placements', 'groups:events',
           'groups:bindings', 'plans:show', 'federation:children'}
SERVER_GROUP = '00000000-0000-4000-8000-00000000000a'

BY_NAME = {f'{route.method} {route.path}': route for route in GUARDED}

every_route = pytest.mark.parametrize(
    'route', GUARDED, ids=[route.policy for route in GUARDED])
routes_of_records = pytest.mark.parametrize(
    'route', [r for r in GUARDED if '_id}' in r.path],
    ids=lambda route: route.policy)

routes_of_owners = pytest.mark.parametrize(
    'route', [r for r in GUARDED
              if '_id}' in r.path and r.policy not in ADMIN_ONLY],
    ids=lambda route: route.policy)


class AnyCredential:
    """Stands for the credentials of a parent; every child accepts them."""

    def children(self, user):
        return ()

    def register(self, user, name, credential_id, secret):
        pass

    def delete(self, user, name):
        pass


@pytest.fixture
def ask(service):
    """Send a request for the group or plan of the project blue."""
    service.credentials = AnyCredential()
    service.renew()
    group = service.planned()
    service.table.write_members(group, [
        replace(row, state=MemberState.BUILT, instance_uuid=NO_UUID)
        for row in builders.members_of(
            service.table.get_group(group), {'one': None})])
    plan = service.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']
    service.table.bindings.add(Binding(
        BindingKind.SERVER_GROUP, SERVER_GROUP, group, 'node', NOON))

    def ask(route, token, group_id=group, plan_id=plan['id'], headers=()):
        path = route.path.replace(':.+}', '}').format(
            group_id=group_id, plan_id=plan_id, path='node-2', host='cmp-1',
            target=SERVER_GROUP, child='ams')
        return service.ask(
            route.method, path, BODIES.get(route.policy), token,
            {'If-Match': '"1"', 'OpenStack-API-Version': 'holistic latest',
             **dict(headers)})

    return ask


def _listed(service, token, query=''):
    answer = service.ask('GET', f'/v1/groups{query}', token=token)
    return [group['id'] for group in answer.json['groups']]


def refused(answer):
    return refusal(answer)[:2]


def test_a_request_without_a_token_is_refused(ask):
    assert {name: refused(ask(route, None))
            for name, route in BY_NAME.items()
            } == dict.fromkeys(BY_NAME, (401, 'holistic.unauthorized'))


def test_a_token_invalid_in_keystone_is_refused(ask):
    # The same happens after the token has expired.
    invalid = {**ADMIN.headers(), 'X-Identity-Status': 'Invalid'}
    assert {name: refused(ask(route, None, headers=invalid))
            for name, route in BY_NAME.items()
            } == dict.fromkeys(BY_NAME, (401, 'holistic.unauthorized'))


@every_route
def test_a_reader_reads_and_changes_nothing(service, ask, route):
    asked = len(service.engines.asked)
    answer = ask(route, READER)
    if route.policy in READING:
        assert answer.status_int == 200
    else:
        assert refused(answer) == (403, 'holistic.forbidden')
    assert len(service.engines.asked) == asked


def test_a_user_without_a_role_is_refused(ask):
    token = type(MEMBER)(roles=())
    assert {name: refused(ask(route, token))
            for name, route in BY_NAME.items()
            } == dict.fromkeys(BY_NAME, (403, 'holistic.forbidden'))


@pytest.mark.parametrize('token', [SYSTEM, DOMAIN, UNSCOPED],
                         ids=['system', 'domain', 'unscoped'])
def test_a_token_of_another_scope_is_refused(ask, token):
    allowed = {name for name, route in BY_NAME.items() if token is SYSTEM
               and route.policy == 'hosts:update_statistics'}
    answers = {name: ask(route, token) for name, route in BY_NAME.items()}
    assert [answers.pop(name).status_int for name in allowed] == (
        [204] * (token is SYSTEM))
    assert {name: refused(answer) for name, answer in answers.items()
            } == dict.fromkeys(answers, (403, 'holistic.forbidden'))


@pytest.mark.parametrize(
    'route', [route for route in GUARDED
              if route.policy != 'hosts:update_statistics'],
    ids=lambda route: route.policy)
def test_a_policy_file_admits_no_user_without_a_project(
        service, ask, route, tmp_path):
    """Such a token is refused even where other policies accept every token.
    oslo.policy does not distinguish an unscoped token from a token for a
    project."""
    file = tmp_path / 'policy.yaml'
    file.write_text(f'"{route.rule}": "@"\n')
    service.conf.set_override('policy_file', str(file), group='oslo_policy')
    service.renew()
    assert refused(ask(route, UNSCOPED)) == (403, 'holistic.forbidden')
    assert ask(route, OTHER_PROJECT).status_int < 300


@routes_of_owners
def test_resources_of_another_project_are_not_found(ask, route):
    """The message of the response does not reveal that the resource exists."""
    existing = ask(route, OTHER_PROJECT)
    missing = ask(route, OTHER_PROJECT, NO_UUID, NO_UUID)
    assert refused(existing) == refused(missing) == (404, 'holistic.not_found')
    words = [re.sub('[0-9a-f-]{36}', 'UUID', refusal(answer)[2])
             for answer in (existing, missing)]
    assert words[0] == words[1]


@routes_of_records
def test_a_reader_of_another_project_cannot_detect_existing_resources(ask,
                                                                      route):
    token = type(READER)('eve', 'green', ('reader',))
    existing = ask(route, token)
    missing = ask(route, token, NO_UUID, NO_UUID)
    assert refused(existing) == refused(missing)
    assert existing.status_int in (403, 404)


@routes_of_records
def test_an_administrator_may_use_every_route(ask, route):
    assert ask(route, ADMIN).status_int < 300


@every_route
def test_a_member_reaches_all_routes_but_those_of_administrators(ask, route):
    answer = ask(route, MEMBER)
    if route.policy in ADMIN_ONLY:
        assert refused(answer) == (403, 'holistic.forbidden')
    else:
        assert answer.status_int < 300, answer.text


def test_another_service_may_only_send_statistics(ask):
    allowed = {route.policy for route in GUARDED
               if ask(route, OTHER_SERVICE).status_int < 300}
    assert allowed == {'hosts:update_statistics'}


def test_groups_of_others_are_not_listed(service):
    own_group, others = service.created(), service.created(token=OTHER_PROJECT)
    assert _listed(service, MEMBER) == [own_group['id']]
    assert _listed(service, OTHER_PROJECT) == [others['id']]
    assert _listed(service, ADMIN) == []
    assert set(_listed(service, ADMIN, '?all_projects=true')) == {
        own_group['id'], others['id']}
    assert _listed(service, ADMIN, '?project_id=green') == [others['id']]
    for query in ('?all_projects=true', '?project_id=green',
                  '?all_projects=true&project_id=blue'):
        assert refused(service.ask('GET', f'/v1/groups{query}')) == (
            403, 'holistic.forbidden')


def test_a_stricter_policy_file_is_obeyed(start, tmp_path):
    file = tmp_path / 'policy.yaml'
    file.write_text('"holistic:groups:create": "role:planner"\n'
                    '"holistic:groups:show": "user_id:%(user_id)s"\n')
    service = start(policies=file)
    planner = type(MEMBER)(roles=('planner', 'member', 'reader'))
    answer = service.ask('POST', '/v1/groups', {'group': SHOP})
    assert refused(answer) == (403, 'holistic.forbidden')
    group = service.created(token=planner)['id']
    assert service.ask('GET', f'/v1/groups/{group}').status_int == 200
    answer = service.ask('GET', f'/v1/groups/{group}', token=READER)
    assert refused(answer) == (403, 'holistic.forbidden')


def test_the_policy_file_decides_who_sees_hosts(start, tmp_path):
    file = tmp_path / 'policy.yaml'
    file.write_text('"holistic:groups:show_hosts": "role:reader"\n')
    service = start(policies=file)
    plan = service.ask('POST', '/v1/plans', {'group': SHOP}).json['plan']
    service.make_plan(plan['id'], group='shop', placements=[
        {'member': 'web', 'host': 'h1', 'node': 'h1', 'location': ['r1']}])
    shown = service.ask('GET', f'/v1/plans/{plan["id"]}').json['plan']
    assert shown['placements'][0]['host'] == 'h1'


def denials(caplog):
    return [message for message in caplog.messages if 'denied' in message]


@every_route
def test_a_denial_is_logged_with_user_and_rule(ask, route, caplog):
    with caplog.at_level(logging.INFO, 'nova_holistic'):
        answer = ask(route, UNSCOPED)
    (line,) = denials(caplog)
    for word in (f'denied with 403 forbidden by rule {route.rule}',
                 f'user {UNSCOPED.user} of project None',
                 f'request {answer.headers["X-Openstack-Request-Id"]}',
                 route.method):
        assert word in line


@routes_of_owners
def test_requests_for_resources_of_others_are_logged(
        ask, route, caplog):
    with caplog.at_level(logging.INFO, 'nova_holistic'):
        ask(route, OTHER_PROJECT)
        ask(route, OTHER_PROJECT, group_id=NO_UUID, plan_id=NO_UUID)
    member_denials, nobodys = denials(caplog)
    assert f'404 not_found by rule {route.rule}' in member_denials
    assert '404 not_found by rule None' in nobodys
    for line in (member_denials, nobodys):
        assert 'user eve of project green' in line


def test_a_logged_denial_contains_no_request_data(service, caplog):
    with caplog.at_level(logging.DEBUG, 'nova_holistic'):
        service.ask('POST', '/v1/groups?wait=5', {
            'group': {'name': 'hush', 'members': []}}, READER,
            {'X-Auth-Token': 'gAAAA-hush', 'Idempotency-Key': 'hush'})
        service.ask('GET', '/v1/groups?all_projects=true&name=hush')
        service.ask('GET', '/v1/groups/a%0Ab%00c')
    assert len(denials(caplog)) == 3
    assert 'list_all_projects' in denials(caplog)[1]
    assert 'hush' not in caplog.text
    assert all('\n' not in line for line in denials(caplog))
