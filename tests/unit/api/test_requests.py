# SPDX-License-Identifier: Apache-2.0
"""Checks that apply to all requests and responses."""

import json

import pytest

from nova_holistic.holds import errors as hold_errors
from nova_holistic.messaging import errors as engine_errors
from nova_holistic.table import errors as table_errors
from tests.unit.api.service import OTHER_SERVICE, refusal, SHOP

JSON = {'Content-Type': 'application/json'}


def post(service, raw, **headers):
    return service.ask('POST', '/v1/groups', raw=raw, headers=headers)


@pytest.mark.parametrize('raw, word', [
    (b'', 'JSON'), (b'{', 'JSON'), (b'{"group": }', 'column 11'),
    (b'group: {name: shop}', 'JSON'), (b"{'group': {}}", 'JSON'),
    (b'{"group": {}, "group": {}}', "'group' twice"),
    (b'{"group": {"name": "a", "name": "b"}}', "'name' twice"),
    (b'{"lease": NaN}', 'NaN'), (b'{"lease": -Infinity}', 'Infinity'),
    (b'{"lease": 1e999}', 'too large'),
    (b'{"lease": ' + b'9' * 5000 + b'}', 'digits'),
    (b'{"group": {"name": "\\ud83d"}}', 'has half of a surrogate pair in'),
    (b'{"\\ud83d": 1}', 'has half of a surrogate pair in'),
    (b'{"a": "\x07"}', 'Invalid control character at line 1, column 8'),
    (b'\xff\xfe{}', 'UTF-8'),
    (b'[' * 100 + b']' * 100, 'deeper than 64'),
    (b'[' * 100_000, 'deeper than 64'),
    (b'{"a":' * 70 + b'1' + b'}' * 70, 'deeper than 64'),
    (b'{"group": [' + b'[],' * 300_000 + b'[]]}', 'than 500000 commas and')])
def test_a_body_that_could_be_misread_is_refused(service, raw, word):
    status, code, detail = refusal(post(service, raw))
    assert (status, code) == (400, 'holistic.invalid_body')
    assert word in detail


@pytest.mark.parametrize('raw, detail', [
    (b'null', 'must be a mapping, not null'),
    (b'[]', 'must be a mapping, not a list'),
    (b'"group"', "must be a mapping, not 'group'"),
    (b'7', 'must be a mapping, not 7'),
    (b'{}', 'group is missing')])
def test_a_body_of_the_wrong_shape_is_refused(service, raw, detail):
    assert refusal(post(service, raw)) == (
        400, 'holistic.invalid_document', f'body: {detail}')


def test_a_body_above_the_limit_is_refused(start):
    service = start(max_request_body=2000)
    raw = json.dumps({'group': {**SHOP, 'name': 'x' * 2000}}).encode()
    assert refusal(post(service, raw))[:2] == (
        413, 'holistic.body_too_large')


def test_a_group_has_at_most_ten_thousand_members(start):
    service = start(max_members_per_project=-1)
    member = {'resources': {'VCPU': 1}}
    group = {'name': 'crowd', 'members': [
        {**member, 'name': f'n{i}'} for i in range(10_001)]}
    answer = service.ask('POST', '/v1/groups', {'group': group})
    status, code, detail = refusal(answer)
    assert (status, code) == (400, 'holistic.invalid_document')
    assert '10000' in detail
    group['members'].pop()
    assert service.ask('POST', '/v1/groups', {
        'group': group}).status_int == 202


@pytest.mark.parametrize('media', ['text/plain', 'application/xml',
                                   'application/x-www-form-urlencoded', ''])
def test_a_body_of_another_media_type_is_refused(service, media):
    answer = post(service, json.dumps({'group': SHOP}).encode(),
                  **{'Content-Type': media})
    status, code, detail = refusal(answer)
    assert (status, code) == (415, 'holistic.unsupported_media_type')
    assert detail == (
        f"the body must be application/json, not '{media}'" if media else
        'the header Content-Type must be application/json; it is missing')


def test_the_name_of_a_statistic_ends_with_no_newline(service):
    for name, status in ('cpu', 204), ('cpu\n', 400):
        answer = service.ask('PUT', '/v1/hosts/cmp-1/statistics', {
            'statistics': {name: 1}}, OTHER_SERVICE)
        assert answer.status_int == status


@pytest.mark.parametrize('media', [
    'APPLICATION/JSON', 'Application/Json; charset=UTF-8',
    'application/json ; charset=utf-8'])
def test_the_media_type_of_a_body_does_not_depend_on_case(service, media):
    answer = post(service, json.dumps({'group': SHOP}).encode(),
                  **{'Content-Type': media})
    assert answer.status_int == 202, answer.text


def test_a_client_that_does_not_accept_json_is_refused(service):
    answer = service.ask('GET', '/v1/groups', headers={'Accept': 'text/html'})
    assert refusal(answer)[:2] == (406, 'holistic.not_acceptable')
    for accept in ('*/*', 'application/*', 'text/html, application/json',
                   'application/json; charset=utf-8',
                   'application/json;charset=UTF-8, text/plain;q=0.9'):
        assert service.ask('GET', '/v1/groups', headers={
            'Accept': accept}).status_int == 200


@pytest.mark.parametrize('path, allowed', [
    ('/v1/groups', 'GET, HEAD, POST'), ('/', 'GET, HEAD'),
    ('/v1/plans', 'POST')])
def test_a_wrong_method_lists_the_allowed_ones(service, path, allowed):
    answer = service.ask('PATCH', path)
    assert refusal(answer)[:2] == (405, 'holistic.method_not_allowed')
    assert answer.headers['Allow'] == allowed


@pytest.mark.parametrize('path', [
    '/v2', '/v1/group', '/v1/groups/x/y', '/v1/groups//placements',
    '/v1/groups/%0A'])
def test_an_unknown_path_is_not_found(service, path):
    assert refusal(service.ask('GET', path))[:2] == (
        404, 'holistic.not_found')


@pytest.mark.parametrize('name', ['1', "' OR 1=1 --", '%00', '%F0%9F%9B%92'])
def test_an_id_other_than_a_uuid_is_not_found(service, name):
    service.created()
    assert refusal(service.ask('GET', f'/v1/groups/{name}'))[:2] == (
        404, 'holistic.not_found')


@pytest.mark.parametrize('name, shown', [
    ('a' * 3000, "'" + 'a' * 56 + '...'), ('a%0Ab', "'a\\nb'"), ('..', '..')])
def test_an_unknown_id_is_quoted_in_one_short_line(service, name, shown):
    assert refusal(service.ask('GET', f'/v1/groups/{name}'))[2] == (
        f'there is no group {shown}')


def test_a_parameter_without_a_name_is_quoted(service):
    assert refusal(service.ask('GET', '/v1?=1'))[2] == (
        "'': unknown parameter; this request has no parameters")


def test_a_path_that_is_not_utf8_is_refused(service):
    assert service.ask('GET', '/v1/groups/%ff').status_int == 400


def test_a_head_is_a_get_without_a_body(service):
    head = service.ask('HEAD', '/v1/groups')
    body = service.ask('GET', '/v1/groups')
    assert (head.status_int, head.body) == (200, b'')
    assert head.headers['Content-Length'] == body.headers['Content-Length']


@pytest.mark.parametrize('text, status, used', [
    ('holistic 1.0', 200, '1.0'), ('holistic latest', 200, '1.7'),
    ('compute 2.90, holistic 1.0', 200, '1.0'), ('compute 2.90', 200, '1.0'),
    ('holistic 1.1', 200, '1.1'), ('holistic 1.2', 200, '1.2'),
    ('holistic 1.3', 200, '1.3'), ('holistic 1.4', 200, '1.4'),
    ('holistic 1.5', 200, '1.5'), ('holistic 1.8', 406, '1.7'),
    ('holistic 2.0', 406, '1.7'), ('holistic 0.9', 406, '1.7'),
    ('holistic one', 400, '1.7'), ('holistic 1', 400, '1.7')])
def test_the_requested_api_version_is_checked(service, text, status, used):
    answer = service.ask('GET', '/v1/groups',
                         headers={'OpenStack-API-Version': text})
    assert answer.status_int == status
    assert answer.headers['OpenStack-API-Version'] == f'holistic {used}'
    assert answer.headers['Vary'] == 'OpenStack-API-Version'


@pytest.mark.parametrize('error, status, code', [
    (engine_errors.EngineUnreachable('secret'), 503, 'engine_unavailable'),
    (hold_errors.HoldsError('secret'), 503, 'placement_unavailable'),
    (table_errors.TableError('secret'), 503, 'database_unavailable'),
    (engine_errors.GroupBusy('it is busy'), 409, 'conflict'),
    (engine_errors.EngineFailed('secret'), 500, 'fault'),
    (RuntimeError('secret'), 500, 'fault')])
def test_engine_errors_have_a_status_and_a_code(service, error, status, code):
    def fail(*_):
        raise error

    group = service.planned()
    service.engines.acts['delete'] = fail
    answer = service.ask('DELETE', f'/v1/groups/{group}')
    assert refusal(answer)[:2] == (status, f'holistic.{code}')
    assert 'secret' not in answer.text
    assert ('Retry-After' in answer.headers) == (status == 503)


def test_an_unreachable_database_is_reported_as_503(service, tmp_path):
    (tmp_path / 'table.sqlite').rename(tmp_path / 'elsewhere')
    service.table.database.engine.dispose()
    answer = service.ask('POST', '/v1/groups', {'group': SHOP})
    assert refusal(answer)[:2] == (503, 'holistic.database_unavailable')
    assert int(answer.headers['Retry-After']) > 0
    assert service.engines.asked == []


def test_an_error_carries_the_request_id_of_its_response(service):
    answer = service.ask('GET', '/nowhere')
    (error,) = answer.json['errors']
    assert error['request_id'] == answer.headers['X-Openstack-Request-Id']
    assert error['title'] == 'Not Found'


def test_each_mistake_of_a_document_is_a_separate_error(service):
    answer = service.ask('POST', '/v1/groups', {'group': {
        'name': 'shop', 'members': [
            {'name': 'a', 'flavour': 'm1.small'},
            {'name': 'b', 'flavor': 'm1.small', 'count': 0}]}})
    assert answer.status_int == 400
    shown = answer.json['errors']
    assert {each['code'] for each in shown} == {'holistic.invalid_document'}
    assert [each['detail'].partition(': ')[0] for each in shown] == [
        'members[0].flavour', 'members[0]', 'members[1].count']
