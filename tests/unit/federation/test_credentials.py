# SPDX-License-Identifier: Apache-2.0
"""Access of users to children: with forwarded tokens, or with application
credentials that they have registered."""

import socket
import threading

from cryptography.fernet import Fernet
from keystoneauth1 import access, noauth
from keystoneauth1.session import Session
import pytest
import webob

from nova_holistic.boot.credential_cipher import CredentialCipher
from nova_holistic.federation.child import ChildGroup, Refusal, RefusalKind
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials import forwarded_token
from nova_holistic.federation.credentials.registered import (
    RegisteredCredentials)
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.credentials.user_children import UserChildren
from nova_holistic.federation.errors import (
    ChildUnknown, ChildUnreachable, CredentialRefused, NotOffered)
from nova_holistic.federation.http.traffic import HttpLimits
from nova_holistic.messaging.context import RequestContext
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.client.loopback import Loopback
from tests.unit.federation.keystone import (
    ChildKeystone, ID, SECRET, TOKEN)
from tests.unit.table import builders

NOON = builders.NOON
UUID = '0d4f2c1e-5b7a-4c3d-9e60-1f2a3b4c5d6e'


class Api:
    """An API without groups that records the headers of requests."""

    def __init__(self):
        self.headers = []

    def __call__(self, environ, start_response):
        self.headers.append(dict(webob.Request(environ).headers))
        return webob.Response(
            status=404, json_body={'errors': [{
                'code': 'holistic.not_found', 'detail': 'no group'}]})(
                    environ, start_response)


class SentToken(noauth.NoAuth):
    """The token of a request to the parent."""

    def get_headers(self, session, **options):
        return {'X-Auth-Token': 'parent-token'}


ANN = User('ann', 'blue', SentToken())


@pytest.fixture
def api():
    return Api()


@pytest.fixture
def keystone():
    return ChildKeystone()


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def loopback(api, keystone):
    with Loopback({'/api': api, '/v3': keystone}) as found:
        keystone.catalog = f'{found.url}/api'
        yield found


@pytest.fixture
def stored(table):
    return RegisteredCredentials(
        table.child_credentials, CredentialCipher(
            [Fernet.generate_key().decode()]), lambda: NOON)


@pytest.fixture
def children(loopback, stored):
    """A child that accepts tokens of the parent, and a child with its own
    Keystone."""
    return UserChildren([
        ChildEntry('dfw', endpoint=f'{loopback.url}/api'),
        ChildEntry('ams', keystone=f'{loopback.url}/v3', region='ams')],
        HttpLimits(), stored, lambda: NOON)


@pytest.fixture
def registrations(children, stored):
    return Registrations(children, stored)


def tokens(api):
    return [headers.get('X-Auth-Token') for headers in api.headers]


def test_a_token_is_forwarded_to_a_child_of_the_same_keystone(api, children):
    assert children.of(ANN)['dfw'].show(UUID) is None
    assert tokens(api) == ['parent-token']


def test_a_child_with_an_own_keystone_gets_its_own_token(
        api, children, registrations):
    registrations.register(ANN, 'ams', ID, SECRET)
    assert children.of(ANN)['ams'].show(UUID) is None
    assert tokens(api) == [TOKEN]


@pytest.mark.parametrize('user', [
    User('rob', 'blue', SentToken()), User('ann', 'red', SentToken())])
def test_a_credential_serves_only_its_user_and_project(
        api, children, registrations, user):
    registrations.register(ANN, 'ams', ID, SECRET)
    found = children.of(user)['ams'].show(UUID)
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.FORBIDDEN
    assert 'register an application credential' in found.reasons[0].message
    assert api.headers == []


def test_a_wrong_secret_is_not_stored(children, registrations):
    with pytest.raises(CredentialRefused):
        registrations.register(ANN, 'ams', ID, 'wrong')
    assert registrations.children(ANN)[1].registered_at is None


def test_nothing_is_stored_while_the_keystone_is_unavailable(
        keystone, registrations):
    keystone.is_failing = True
    with pytest.raises(ChildUnreachable):
        registrations.register(ANN, 'ams', ID, SECRET)
    assert registrations.children(ANN)[1].registered_at is None


def test_a_revoked_credential_is_a_refusal(children, keystone, registrations):
    registrations.register(ANN, 'ams', ID, SECRET)
    entry = children.entries['ams']
    assert entry.keystone is not None
    from tests.unit.federation import keystone as module
    original, module.SECRET = module.SECRET, 'revoked'
    try:
        found = children.of(ANN)['ams'].show(UUID)
    finally:
        module.SECRET = original
    assert not isinstance(found, ChildGroup)
    assert found.kind is RefusalKind.FORBIDDEN


def test_the_table_contains_no_secret(registrations, table):
    registrations.register(ANN, 'ams', ID, SECRET)
    text = table.child_credentials.get('ann', 'blue', 'ams')
    assert SECRET not in text and ID not in text


def test_a_row_that_was_copied_to_another_user_is_useless(
        children, registrations, table):
    registrations.register(ANN, 'ams', ID, SECRET)
    table.child_credentials.put(
        'rob', 'blue', 'ams',
        table.child_credentials.get('ann', 'blue', 'ams'), NOON)
    found = children.of(User('rob', 'blue'))['ams'].show(UUID)
    assert 'cannot be decrypted' in found.reasons[0].message


def test_a_deleted_credential_is_forgotten(children, registrations):
    registrations.register(ANN, 'ams', ID, SECRET)
    assert registrations.children(ANN)[1].registered_at == NOON
    registrations.delete(ANN, 'ams')
    assert registrations.children(ANN)[1].registered_at is None
    with pytest.raises(ChildUnknown):
        registrations.delete(ANN, 'ams')


def test_only_a_child_with_an_own_keystone_takes_a_credential(
        children, registrations):
    with pytest.raises(NotOffered):
        registrations.register(ANN, 'dfw', ID, SECRET)
    with pytest.raises(ChildUnknown):
        registrations.register(ANN, 'lon', ID, SECRET)
    with pytest.raises(NotOffered):
        Registrations(children, None).register(ANN, 'ams', ID, SECRET)


def test_the_service_token_of_the_parent_is_never_sent():
    class Validated:
        """The token data that keystonemiddleware adds to the environment."""

        has_user_token = True
        user = access.create(
            body={'token': {'methods': ['password'],
                            'expires_at': '2130-01-01T12:00:00.0Z'}},
            auth_token='user-token')

    found = forwarded_token.of_request(
        {forwarded_token.ENVIRON_KEY: Validated()})
    assert found.get_headers(Session()) == {'X-Auth-Token': 'user-token'}
    assert forwarded_token.of_request({}) is None


def test_no_document_contains_the_token():
    context = RequestContext('req-1', 'blue', 'ann', SentToken())
    assert context.to_document() == {
        'request_id': 'req-1', 'project_id': 'blue', 'user_id': 'ann'}
    assert RequestContext.from_document(
        {**context.to_document(), 'auth': 'x'}).auth is None
    assert 'SentToken' not in repr(context)


def test_nothing_is_stored_while_the_certificates_of_a_child_are_missing(
        stored, tmp_path):
    """The operator replaces the file at this moment."""
    children = UserChildren([ChildEntry(
        'ams', keystone='https://127.0.0.1:1/v3', region='ams',
        ca_file=str(tmp_path / 'ca.pem'))], HttpLimits(), stored, lambda: NOON)
    registrations = Registrations(children, stored)
    with pytest.raises(ChildUnreachable):
        registrations.register(ANN, 'ams', ID, SECRET)
    assert registrations.children(ANN)[0].registered_at is None


def test_a_child_whose_certificates_are_missing_does_not_answer(tmp_path):
    children = UserChildren([ChildEntry(
        'dfw', endpoint='https://127.0.0.1:1/api',
        ca_file=str(tmp_path / 'ca.pem'))], HttpLimits(), None, lambda: NOON)
    found = children.of(ANN)['dfw'].show(UUID)
    assert isinstance(found, Refusal)
    assert found.kind is RefusalKind.UNREACHABLE


def test_a_keystone_that_does_not_answer_occupies_no_thread(stored, table):
    """It accepts connections, and is stopped before it answers."""
    before = threading.enumerate()
    with socket.create_server(('127.0.0.1', 0)) as silent:
        children = UserChildren([ChildEntry(
            'ams', region='ams', keystone='http://127.0.0.1:'
            f'{silent.getsockname()[1]}/v3')],
            HttpLimits(seconds=0.3), stored, lambda: NOON)
        with pytest.raises(ChildUnreachable):
            Registrations(children, stored).register(ANN, 'ams', ID, SECRET)
        table.child_credentials.put(
            ANN.user_id, ANN.project_id, 'ams', stored._cipher.encrypt(
                '["ann","blue","ams"]', f'{{"id":"{ID}","secret":"x"}}'), NOON)
        found = children.of(ANN)['ams'].show(UUID)
        assert found.kind is RefusalKind.UNREACHABLE
        for thread in threading.enumerate():
            if thread.name == 'bounded-call' and thread not in before:
                thread.join(5)
                assert not thread.is_alive()
