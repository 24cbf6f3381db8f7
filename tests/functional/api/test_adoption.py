# SPDX-License-Identifier: Apache-2.0
"""Requests about servers that exist before their group."""

import uuid

import pytest

from tests.functional.engine.adopting import a_server, allocated
from tests.functional.engine.world import SMALL
from tests.unit.api.service import refusal

VERSION = {'OpenStack-API-Version': 'holistic 1.1'}
APART = [{'type': 'anti-affinity', 'level': 'host'}]


def pair(**keys):
    return {'name': 'pair', 'policies': APART, 'members': [
        {'name': 'n', 'count': 2, 'resources': SMALL}], **keys}


@pytest.fixture
def ask(service):
    """A request of the version that adopts servers."""
    def ask(method, path, body, **headers):
        return service.ask(method, f'/v1/groups{path}', body,
                           headers={**VERSION, **headers})
    return ask


def test_a_group_is_created_with_an_existing_server(world, ask, service):
    server = a_server(world, 'a1')
    answer = ask('POST', '?wait=30', {'group': pair(adopt={'n-1': server})})
    assert answer.status_int == 201
    group = answer.json['group']
    assert (group['status'], group['members']) == (
        'building', {'planned': 1, 'built': 1})
    body = service.ask('GET', f'/v1/groups/{group["id"]}').json['group']
    assert body['definition'] == pair()
    assert world.vcpus_used() == 2


def test_a_strict_create_is_refused_with_the_violations(world, ask):
    adopt = {f'n-{number}': a_server(world, 'a1') for number in range(2)}
    body = {'group': pair(adopt=adopt)}
    group = ask('POST', '?wait=30', {**body, 'strict': True}).json['group']
    assert (group['status'], len(group['reasons'])) == ('unplaceable', 1)
    group = ask('POST', '?wait=30', body).json['group']
    assert (group['status'], len(group['violations'])) == ('degraded', 1)


def test_a_planned_member_becomes_an_existing_server(world, ask):
    group = ask('POST', '?wait=30', {'group': pair()}).json['group']
    server = a_server(world, 'b2')
    before = allocated(world, [server])
    answer = ask('POST', f'/{group["id"]}/adopt?wait=30',
                 {'adopt': {'n-0': server}, 'strict': True})
    assert answer.status_int == 200
    assert answer.json['group']['members'] == {'planned': 1, 'built': 1}
    assert allocated(world, [server]) == before
    assert world.vcpus_used() == 2


def test_an_update_adopts_servers(world, ask):
    group = ask('POST', '?wait=30', {'group': pair()}).json['group']
    answer = ask(
        'PUT', f'/{group["id"]}?wait=30',
        {'group': pair(adopt={'n-0': a_server(world, 'b2')})},
        **{'If-Match': '"1"'})
    assert answer.json['group']['members'] == {'planned': 1, 'built': 1}


@pytest.mark.parametrize('document, detail', [
    (pair(adopt={'n-2': str(uuid.uuid4())}),
     "adopt.n-2: there is no member 'n-2'"),
    (pair(adopt={'n': str(uuid.uuid4())}),
     "adopt.n: 'n' has a count: name one of its servers, such as 'n-0'"),
    (pair(adopt={'n-0': 'first'}), 'adopt.n-0: must be a UUID'),
    ({'name': 'out', 'groups': [pair(adopt={'n-0': str(uuid.uuid4())})]},
     'groups[0].adopt: only the top-level group adopts servers'),
])
def test_a_bad_request_is_refused_with_its_position(ask, document, detail):
    answer = ask('POST', '', {'group': document})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    assert answer.json['errors'][0]['detail'].startswith(detail)


def test_all_mistakes_are_reported_at_once(ask):
    server = str(uuid.uuid4())
    answer = ask('POST', '', {'group': pair(
        adopt={'n-0': server, 'n-1': server.upper(), 'm': 'x'},
        relations=[])})
    assert [each['detail'].partition(':')[0]
            for each in answer.json['errors']] == ['relations', 'adopt.m']
    answer = ask('POST', '', {'group': pair(
        adopt={'n-0': server, 'n-1': server.upper(), 'm': str(uuid.uuid4())})})
    assert [each['detail'].partition(':')[0]
            for each in answer.json['errors']] == ['adopt.n-1', 'adopt.m']


def test_a_member_of_a_group_is_not_adopted_again(world, ask):
    server = a_server(world, 'a1')
    body = {'group': pair(adopt={'n-0': server})}
    first = ask('POST', '?wait=30', body).json['group']['id']
    for answer in (ask('POST', '', body),
                   ask('POST', f'/{first}/adopt',
                       {'adopt': {'n-1': server}})):
        assert refusal(answer)[:2] == (409, 'holistic.conflict')
        assert f"server {server} is member 'n-0' of group {first}" in (
            answer.json['errors'][0]['detail'])
    again = ask('POST', f'/{first}/adopt?wait=30', {'adopt': {'n-0': server}})
    assert again.status_int == 200


def test_a_detached_server_remains(world, ask):
    server = a_server(world, 'a1')
    before = allocated(world, [server])
    group = ask('POST', '?wait=30', {'group': pair(
        adopt={'n-0': server})}).json['group']['id']
    path = f'/{group}/detach'
    answer = ask('POST', path, {'detach': {'member': 'n-0'}})
    assert answer.status_int == 200
    assert answer.json['group']['members'] == {'planned': 1, 'released': 1}
    assert allocated(world, [server]) == before
    assert world.table.member_of_instance(server) is None
    assert refusal(ask('POST', path, {'detach': {'member': 'n-0'}}))[:2] == (
        409, 'holistic.conflict')
    assert refusal(ask('POST', path, {'detach': {'member': 'm'}}))[:2] == (
        400, 'holistic.unknown_member')
    other = ask('POST', '?wait=30', {'group': pair(adopt={'n-0': server})})
    assert other.json['group']['members'] == {'planned': 1, 'built': 1}
    world.reconcile_members()
    world.assert_nothing_left()


def test_the_first_version_does_not_adopt_servers(world, service):
    server = a_server(world, 'a1')
    answer = service.ask('POST', '/v1/groups', {
        'group': pair(adopt={'n-0': server})})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    answer = service.ask('POST', '/v1/groups', {
        'group': pair(), 'strict': True})
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    group = service.ask('POST', '/v1/groups', {'group': pair()}).json['group']
    for action, body in (('adopt', {'n-0': server}),
                         ('detach', {'member': 'n-0'})):
        answer = service.ask('POST', f'/v1/groups/{group["id"]}/{action}',
                             {action: body})
        assert refusal(answer)[:2] == (404, 'holistic.not_found')


def test_a_plan_without_holds_adopts_nothing(world, ask, service):
    answer = service.ask('POST', '/v1/plans', {
        'group': pair(adopt={'n-0': a_server(world, 'a1')})},
        headers=VERSION)
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    assert 'cannot adopt' in answer.json['errors'][0]['detail']
