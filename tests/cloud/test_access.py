# SPDX-License-Identifier: Apache-2.0
"""Access rights, with tokens of a real Keystone."""

import json

import pytest
import requests

from nova_holistic.api.routes import ROUTES
from nova_holistic.client.client import Client
from tests.cloud.command_line import Refused
from tools.cloud import catalog
from tools.cloud.waiting import wait_for

NO_SERVER_GROUP = '00000000-0000-4000-8000-000000000000'
NO_SERVER = '00000000-0000-4000-8000-000000000001'
GROUP = {'group': {'name': 'ours', 'members': [
    {'name': 'node', 'count': 2, 'flavor': 'tiny'}]}}


@pytest.fixture
def file(tmp_path):
    written = tmp_path / 'group.json'
    written.write_text(json.dumps(GROUP))
    return written


@pytest.fixture
def group(demo):
    client = Client(demo)
    return client.groups.wait(client.groups.create(GROUP)['id'])


@pytest.fixture
def requests_for_all(demo, group):
    """A request for each route that needs a token: method, path and body."""
    plan = Client(demo).request('POST', '/plans', body=GROUP)['plan']
    one = f'/groups/{group["id"]}'
    all_requests = [
        ('GET', '/groups', None), ('POST', '/groups', GROUP),
        ('GET', one, None), ('PUT', one, GROUP), ('DELETE', one, None),
        ('GET', f'{one}/placements', None), ('GET', f'{one}/events', None),
        ('GET', f'{one}/bindings', None),
        ('PUT', f'{one}/bindings/{NO_SERVER_GROUP}', {'binding': {}}),
        ('DELETE', f'{one}/bindings/{NO_SERVER_GROUP}', None),
        ('POST', f'{one}/repair', {'repair': {'apply': False}}),
        ('POST', f'{one}/release', {'release': {}}),
        ('POST', f'{one}/extend', {'extend': {'seconds': 60}}),
        ('POST', f'{one}/replan', {'replan': {}}),
        ('POST', f'{one}/members', {'members': [
            {'name': 'more', 'flavor': 'tiny'}]}),
        ('DELETE', f'{one}/members/node', None),
        ('POST', f'{one}/adopt', {'adopt': {
            'node-0': NO_SERVER}}),
        ('POST', f'{one}/detach', {'detach': {'member': 'node-0'}}),
        ('POST', '/plans', GROUP), ('GET', f'/plans/{plan["id"]}', None),
        ('PUT', '/hosts/compute-001/statistics', {'statistics': {
            'heat': 1.5}}),
        ('GET', '/children', None),
        ('PUT', '/children/dfw/credential', {'credential': {
            'id': 'one', 'secret': 'hidden'}}),
        ('DELETE', '/children/dfw/credential', None)]
    assert len(all_requests) == sum(route.rule is not None for route in ROUTES)
    return all_requests


@pytest.fixture
def call(cloud):
    """A function that sends a request with a token, and returns the status of
    the response."""
    def called(method, path, token=None, body=None):
        with requests.Session() as session:
            session.trust_env = False
            return session.request(
                method, cloud.layout.url('holistic', '/v1' + path),
                json=body, headers={
                    'OpenStack-API-Version': 'holistic latest',
                    **({'X-Auth-Token': token} if token else {})},
                timeout=60).status_code
    return called


@pytest.fixture
def passed_token(cloud):
    """An expired token of an administrator, issued with the same keys and
    database."""
    cloud.start('short-keystone')
    session = catalog.session(cloud.layout, catalog.ADMIN, cloud.layout.url(
        'short-keystone', '/v3'))
    auth = session.auth.get_access(session)
    wait_for('the end of a token',
             lambda: auth.will_expire_soon(stale_duration=-1))
    yield auth.auth_token
    cloud.processes.end(['short-keystone'])


def test_an_expired_token_is_refused(
        call, group, requests_for_all, passed_token, demo):
    for token in (passed_token, None, 'made-up'):
        for method, path, body in requests_for_all:
            assert call(method, path, token, body) == 401, (method, path)
    assert Client(demo).groups.get(group['id'])['revision'] == 1


def test_a_revoked_token_is_refused(cloud, call):
    session = catalog.session(cloud.layout, catalog.MEMBER)
    used, unused = session.get_token(), catalog.session(
        cloud.layout, catalog.MEMBER).get_token()
    assert call('GET', '/groups', used) == 200
    session.delete(cloud.layout.identity + '/auth/tokens', headers={
        'X-Subject-Token': unused})
    assert call('GET', '/groups', unused) == 401


def test_a_group_of_another_project_is_not_found(
        call, as_user, group, requests_for_all, cloud):
    other_server = as_user(catalog.OTHER_USER)
    assert other_server('holistic', 'group', 'list') == []
    with pytest.raises(Refused, match='there is no group'):
        other_server('holistic', 'group', 'show', group['id'])
    token = catalog.session(cloud.layout, catalog.OTHER_USER).get_token()
    for method, path, body in requests_for_all:
        if path.startswith(('/groups/', '/plans/')):
            # Repairs of any group require an administrator.
            assert call(method, path, token, body) == (
                403 if path.endswith('/repair') else 404), (method, path)


def test_a_reader_reads_groups_and_cannot_change_them(
        as_user, group, file, requests_for_all, cloud, call):
    reader = as_user(catalog.READER)
    assert [row['id'] for row in reader('holistic', 'group', 'list')] == [
        group['id']]
    with pytest.raises(Refused, match='policy does not allow'):
        reader('holistic', 'group', 'create', '-f', file)
    token = catalog.session(cloud.layout, catalog.READER).get_token()
    for method, path, body in requests_for_all:
        # This cloud is not a parent of a federation.
        read = 404 if path == '/children' else 200
        assert call(method, path, token, body) == (
            read if method == 'GET' else 403), (method, path)


@pytest.mark.parametrize('user,scope', [
    (catalog.MEMBER, {}), (catalog.ADMIN, {}),
    (catalog.ADMIN, {'system_scope': 'all'})])
def test_a_token_of_another_scope_reaches_only_host_statistics(
        call, group, requests_for_all, demo, cloud, user, scope):
    token = catalog.session(cloud.layout, user, scope=scope).get_token()
    for method, path, body in requests_for_all:
        # A host belongs to no project: host statistics require the scope of
        # the system.
        allowed = path.startswith('/hosts/') and 'system_scope' in scope
        assert call(method, path, token, body) in (
            (204,) if allowed else (403, 404)), (method, path)
    assert Client(demo).groups.get(group['id'])['revision'] == 1
