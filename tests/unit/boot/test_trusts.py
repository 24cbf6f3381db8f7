# SPDX-License-Identifier: Apache-2.0
"""Responses of Keystone that a real Keystone cannot be made to give."""

from datetime import datetime

from keystoneauth1 import adapter, exceptions, session, token_endpoint
import pytest
import requests

from nova_holistic.boot.errors import TrustRefused
from nova_holistic.boot.trusts import Trusts, User
from nova_holistic.inventory.errors import ServiceFailed

KEYSTONE = 'http://keystone/v3'
TRUSTS = f'{KEYSTONE}/OS-TRUST/trusts'
ANN = User('ann', 'blue', 'her token', ('reader', 'member'))
TRUST = 'b7c2a9f04d'
NOON = datetime(2030, 1, 1, 12)


class Service(token_endpoint.Token):
    """The user of this service."""

    def get_user_id(self, *args, **kwargs):
        return 'holistic'


@pytest.fixture
def auth():
    return Service(KEYSTONE, 'own token')


@pytest.fixture
def trusts(auth):
    return Trusts(adapter.Adapter(
        session.Session(auth=auth), service_type='identity',
        endpoint_override=KEYSTONE), lambda trust: auth)


def test_the_user_trusts_the_service_in_one_project(trusts, requests_mock):
    requests_mock.post(TRUSTS, status_code=201, json={'trust': {'id': 't1'}})
    assert trusts.create(ANN, NOON, 90) == 't1'
    request = requests_mock.last_request
    assert request.headers['X-Auth-Token'] == 'her token'
    assert request.json() == {'trust': {
        'trustor_user_id': 'ann', 'trustee_user_id': 'holistic',
        'project_id': 'blue', 'impersonation': True,
        'roles': [{'name': 'member'}, {'name': 'reader'}],
        'expires_at': '2030-01-01T12:01:30.000000Z'}}


@pytest.mark.parametrize('answer, error, message', [
    ({'status_code': 403, 'json': {'error': {
        'message': 'Delegated tokens cannot manage trusts.'}}},
     TrustRefused, 'Delegated tokens'),
    ({'status_code': 404, 'text': ''}, TrustRefused, 'HTTP 404'),
    ({'status_code': 503}, ServiceFailed, 'HTTP 503'),
    ({'status_code': 201, 'text': 'oops'}, ServiceFailed, ''),
    ({'exc': requests.ConnectionError('away')}, ServiceFailed, 'away')])
def test_the_reason_for_a_missing_trust_is_reported(
        trusts, requests_mock, answer, error, message):
    requests_mock.post(TRUSTS, **answer)
    with pytest.raises(error, match=message):
        trusts.create(ANN, NOON, 90)


def test_an_account_without_a_token_is_logged(
        trusts, auth, monkeypatch, caplog):
    def refused(*args, **kwargs):
        raise exceptions.Unauthorized('no role')

    monkeypatch.setattr(auth, 'get_user_id', refused, raising=False)
    with pytest.raises(ServiceFailed, match='no role'):
        trusts.create(ANN, NOON, 90)
    assert 'The account in [boot] gets no token' in caplog.text


@pytest.mark.parametrize('answer, gone', [
    ({'status_code': 204}, True), ({'status_code': 404}, True),
    ({'status_code': 403}, False), ({'status_code': 500}, False),
    ({'status_code': 403, 'json': {'error': {
        'message': f'Trust {TRUST} is away.'}}}, False),
    ({'exc': requests.ConnectionError('away')}, False)])
def test_a_trust_that_cannot_be_deleted_is_logged(
        trusts, auth, requests_mock, caplog, answer, gone):
    requests_mock.delete(f'{TRUSTS}/{TRUST}', **answer)
    assert trusts.delete(TRUST, auth) is gone
    assert ('expires later' in caplog.text) is not gone
    assert TRUST not in caplog.text
