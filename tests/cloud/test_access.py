# SPDX-License-Identifier: Apache-2.0
"""Who may do what, by tokens of a real keystone."""

import json

import pytest
import requests

from tests.cloud.command_line import CommandLine, Refused
from tools.cloud import catalog
from tools.cloud.waiting import wait_for

GROUP = {'group': {'name': 'ours', 'members': [
    {'name': 'node', 'count': 2, 'flavor': 'tiny'}]}}


@pytest.fixture
def file(tmp_path):
    written = tmp_path / 'group.json'
    written.write_text(json.dumps(GROUP))
    return written


@pytest.fixture
def as_user(cloud):
    """The command line as any user."""
    return lambda user: CommandLine(cloud.layout, user)


@pytest.fixture
def group(openstack, file):
    return openstack('holistic', 'group', 'create', '-f', file, '--wait')


@pytest.fixture
def call(cloud):
    """The answer's status of any request with any token."""
    def called(method, path, token=None, body=None):
        with requests.Session() as session:
            session.trust_env = False
            return session.request(
                method, cloud.layout.url('holistic', '/v1' + path),
                json=body, headers={'X-Auth-Token': token} if token else {},
                timeout=60).status_code
    return called


@pytest.fixture
def passed_token(cloud):
    """One of a user who may do all, issued by the same keys and database,
    and no longer valid."""
    cloud.start('short-keystone')
    session = catalog.session(cloud.layout, catalog.ADMIN, cloud.layout.url(
        'short-keystone', '/v3'))
    auth = session.auth.get_access(session)
    wait_for('the end of a token',
             lambda: auth.will_expire_soon(stale_duration=-1))
    yield auth.auth_token
    cloud.processes.end(['short-keystone'])


def routes(group):
    """A request for every route that needs a token."""
    one = f'/groups/{group["id"]}'
    return [
        ('GET', '/groups', None), ('POST', '/groups', GROUP),
        ('GET', one, None), ('PUT', one, GROUP), ('DELETE', one, None),
        ('GET', f'{one}/placements', None),
        ('POST', f'{one}/release', {'release': {}}),
        ('POST', f'{one}/extend', {'extend': {'seconds': 60}}),
        ('POST', f'{one}/replan', {'replan': {}}),
        ('POST', f'{one}/members', {'members': [
            {'name': 'more', 'flavor': 'tiny'}]}),
        ('DELETE', f'{one}/members/node', None),
        ('POST', '/plans', GROUP)]


def test_a_token_that_has_passed_is_worth_nothing(
        call, group, passed_token, openstack):
    for token in (passed_token, None, 'made-up'):
        for method, path, body in routes(group):
            assert call(method, path, token, body) == 401, (method, path)
    assert openstack('holistic', 'group', 'show', group['id'])[
        'revision'] == 1


def test_a_token_that_was_revoked_is_worth_nothing(cloud, call):
    session = catalog.session(cloud.layout, catalog.MEMBER)
    used, unused = session.get_token(), catalog.session(
        cloud.layout, catalog.MEMBER).get_token()
    assert call('GET', '/groups', used) == 200
    session.delete(cloud.layout.identity + '/auth/tokens', headers={
        'X-Subject-Token': unused})
    assert call('GET', '/groups', unused) == 401


def test_another_projects_group_is_not_there(call, as_user, group, cloud):
    stranger = as_user(catalog.STRANGER)
    assert stranger('holistic', 'group', 'list') == []
    with pytest.raises(Refused, match='there is no group'):
        stranger('holistic', 'group', 'show', group['id'])
    token = catalog.session(cloud.layout, catalog.STRANGER).get_token()
    for method, path, body in routes(group):
        if path.startswith('/groups/') and method != 'PUT':
            assert call(method, path, token, body) == 404, (method, path)


def test_a_reader_sees_and_changes_nothing(as_user, group, file, cloud, call):
    reader = as_user(catalog.READER)
    assert [row['id'] for row in reader('holistic', 'group', 'list')] == [
        group['id']]
    assert reader('holistic', 'group', 'show', group['id'])['name'] == 'ours'
    with pytest.raises(Refused, match='policy does not allow'):
        reader('holistic', 'group', 'create', '-f', file)
    token = catalog.session(cloud.layout, catalog.READER).get_token()
    for method, path, body in routes(group):
        if method != 'GET':
            assert call(method, path, token, body) == 403, (method, path)
