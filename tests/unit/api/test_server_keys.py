# SPDX-License-Identifier: Apache-2.0
"""The key ``server`` of member descriptions, in requests."""

import pytest

from tests.unit.api.service import refusal, SHOP

SERVER = {'imageRef': '155d900f-4e14-4e4c-a73d-069cbf4541e6',
          'flavorRef': '2', 'user_data': 'I2Nsb3VkLWNvbmZpZwo='}
MEMBER = {'name': 'more', 'resources': {'VCPU': 1}, 'server': SERVER}
WITH_SERVER = {**SHOP, 'members': [*SHOP.get('members', ()), MEMBER]}
PLACE = f'members[{len(WITH_SERVER["members"]) - 1}].server'


def version(text):
    return {'OpenStack-API-Version': f'holistic {text}'}


def test_the_key_is_kept_in_the_definition(service):
    answer = service.ask('POST', '/v1/groups', {'group': WITH_SERVER},
                         headers=version('1.2'))
    assert answer.status_int == 202, answer.text
    group = answer.json['group']['id']
    service.settle(group)
    shown = service.ask('GET', f'/v1/groups/{group}').json['group']
    assert shown['definition'] == WITH_SERVER
    answer = service.ask('PUT', f'/v1/groups/{group}', {
        'group': shown['definition']}, headers={
            **version('latest'), 'If-Match': f'"{shown["revision"]}"'})
    assert answer.status_int == 202, answer.text


@pytest.mark.parametrize('text', ['1.0', '1.1'])
@pytest.mark.parametrize('method, path, body, place', [
    ('POST', '/v1/groups', {'group': WITH_SERVER}, PLACE),
    ('POST', '/v1/groups', {'group': {'name': 'shop', 'groups': [
        {'name': 'db', 'members': [MEMBER]}]}}, 'groups[0].members[0].server'),
    ('POST', '/v1/plans', {'group': WITH_SERVER}, PLACE),
    ('PUT', '/v1/groups/{id}', {'group': WITH_SERVER}, PLACE),
    ('POST', '/v1/groups/{id}/members', {'members': [MEMBER]},
     'members[0].server')])
def test_earlier_versions_do_not_know_the_key(
        service, text, method, path, body, place):
    if '{id}' in path:
        group = service.created()['id']
        service.settle(group)
        path = path.replace('{id}', group)
    answer = service.ask(method, path, body, headers={
        **version(text), 'If-Match': '"1"'})
    assert refusal(answer) == (
        400, 'holistic.invalid_document',
        f'{place}: requires version 1.2 of the API')


def test_a_wrong_value_is_refused_with_its_position(service):
    wrong = {**SHOP, 'members': [{**MEMBER, 'server': {
        **SERVER, 'networks': [{'uuid': 'red'}], 'host': 'a1'}}]}
    answer = service.ask('POST', '/v1/groups', {'group': wrong},
                         headers=version('1.2'))
    assert answer.status_int == 400
    assert [each['detail'].partition(': must')[0]
            for each in answer.json['errors']] == [
        'members[0].server.host', 'members[0].server.networks[0].uuid']
