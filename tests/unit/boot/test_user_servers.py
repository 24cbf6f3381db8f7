# SPDX-License-Identifier: Apache-2.0
"""Responses of Nova and Keystone that a real service cannot be made to
give."""

from keystoneauth1 import adapter, exceptions, session, token_endpoint
import pytest
import requests

from nova_holistic.boot.errors import (
    CreateRefused, RightUnavailable, TooManyRequests)
from nova_holistic.boot.user_servers import UserServers
from nova_holistic.inventory.errors import ServiceFailed

NOVA = 'http://nova/v2.1'


@pytest.fixture
def servers():
    return UserServers(adapter.Adapter(
        session.Session(auth=token_endpoint.Token(NOVA, 'token')),
        service_type='compute', endpoint_override=NOVA, status_code_retries=0))


@pytest.mark.parametrize('answer, error, message', [
    ({'status_code': 400, 'json': {'badRequest': {
        'message': 'no such\nimage', 'code': 400}}},
     CreateRefused, 'HTTP 400: no such image'),
    ({'status_code': 403, 'json': {'forbidden': {
        'message': 'quota exceeded', 'code': 403}}},
     CreateRefused, 'HTTP 403: quota exceeded'),
    ({'status_code': 404, 'text': '<html>'}, CreateRefused, 'HTTP 404'),
    ({'status_code': 429, 'json': {'overLimit': {
        'message': 'later', 'code': 429}}}, TooManyRequests, 'later'),
    ({'status_code': 500, 'text': 'oops'}, ServiceFailed, 'HTTP 500'),
    ({'status_code': 429, 'text': 'slower'}, ServiceFailed, 'HTTP 429'),
    ({'status_code': 503, 'json': []}, ServiceFailed, 'HTTP 503'),
    ({'status_code': 202, 'text': 'oops'}, ServiceFailed, 'not JSON'),
    ({'exc': requests.ConnectionError('reset')}, ServiceFailed, 'reset'),
    ({'status_code': 401}, RightUnavailable, 'token')])
def test_the_reason_for_a_missing_server_is_reported(
        servers, requests_mock, answer, error, message):
    requests_mock.post(f'{NOVA}/servers', **answer)
    with pytest.raises(error, match=message):
        servers.create({'server': {}})


@pytest.mark.parametrize('refusal, error', [
    (exceptions.Unauthorized, RightUnavailable),
    (exceptions.NotFound, RightUnavailable),
    (exceptions.Forbidden, RightUnavailable),
    (exceptions.ServiceUnavailable, ServiceFailed),
    (exceptions.ConnectFailure, ServiceFailed)])
def test_a_missing_token_is_reported(servers, monkeypatch, refusal, error):
    def refuse(*args, **kwargs):
        raise refusal('no')

    monkeypatch.setattr(token_endpoint.Token, 'get_token', refuse)
    monkeypatch.setattr(token_endpoint.Token, 'get_headers', refuse)
    with pytest.raises(error) as raised:
        servers.get('server')
    if error is ServiceFailed:
        assert raised.value.service == 'keystone'


def test_a_list_is_read_page_by_page(servers, requests_mock):
    def page(*ids, more):
        found = {'servers': [{'id': each, 'status': status, 'metadata': {}}
                             for each, status in ids]}
        if more:
            found['servers_links'] = [{'rel': 'next', 'href': 'there'}]
        return found

    address = f'{NOVA}/servers/detail?tags=holistic_group%3Dg'
    requests_mock.get(address, json=page(
        ('a', 'ERROR'), ('b', 'ACTIVE'), more=True))
    requests_mock.get(f'{address}&marker=b',
                      json=page(('c', 'BUILD'), more=False))
    assert [each.uuid for each in servers.of_group('g')] == ['b', 'c', 'a']


def test_a_flavor_has_a_name_or_an_id(servers, requests_mock):
    requests_mock.get(f'{NOVA}/flavors/7', json={'flavor': {'id': '7'}})
    requests_mock.get(f'{NOVA}/flavors/a%20b', status_code=404)
    requests_mock.get(f'{NOVA}/flavors/none', status_code=404)
    requests_mock.get(f'{NOVA}/flavors', json={'flavors': [
        {'id': '7', 'name': 'x'}, {'id': '8', 'name': 'a b'}]})
    assert [servers.flavor_id(name) for name in ('7', 'a b', 'none')] == [
        '7', '8', None]


@pytest.mark.parametrize('status', [204, 404, 409])
def test_a_deleted_server_may_be_deleted_again(servers, requests_mock, status):
    requests_mock.delete(f'{NOVA}/servers/a', status_code=status)
    servers.delete('a')


def test_a_delete_that_fails_is_repeated_later(servers, requests_mock):
    requests_mock.delete(f'{NOVA}/servers/a', status_code=500)
    with pytest.raises(ServiceFailed):
        servers.delete('a')
