# SPDX-License-Identifier: Apache-2.0
"""The deployed API, with tokens and limits of a real Keystone."""

import logging

from oslo_config import cfg
from oslo_limit import limit
import pytest
import webob

from nova_holistic.api import deploy
from tests.services.keystone import KeystoneServer, PASSWORD
from tests.tables import new_table
from tests.unit.api.service import refusal, SHOP

CONFIGURATION = '''
[DEFAULT]
transport_url = fake:///
[holistic_database]
connection = {table}
[holistic_api]
limits = oslo_limit
[keystone_authtoken]
auth_type = password
auth_url = {keystone}
username = admin
password = {password}
user_domain_id = default
system_scope = all
[oslo_limit]
auth_type = password
auth_url = {keystone}
username = admin
password = {password}
user_domain_id = default
system_scope = all
endpoint_service_type = holistic
endpoint_region_name = RegionOne
'''
OVER = (403, 'holistic.over_limit')


@pytest.fixture(scope='module')
def keystone(tmp_path_factory):
    with KeystoneServer(tmp_path_factory.mktemp('keystone')) as keystone:
        yield keystone


@pytest.fixture(scope='module')
def service(keystone):
    """The ID of our service, which has an endpoint."""
    service = keystone.create('service', type='holistic', name='holistic')
    keystone.create('endpoint', service_id=service, interface='public',
                    region_id='RegionOne', url='http://127.0.0.1:1')
    return service


@pytest.fixture(scope='module')
def projects(keystone):
    """The IDs of two projects, by the names of their users."""
    return {'ann': keystone.member('blue', 'ann'),
            'eve': keystone.member('green', 'eve')}


@pytest.fixture
def app(keystone, service, tmp_path, monkeypatch):
    """The application of a WSGI server."""
    url = new_table(tmp_path)
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(CONFIGURATION.format(
        table=url, keystone=keystone.url, password=PASSWORD))
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(limit, '_SDK_CONNECTION', None)
    # oslo.limit reads only the global configuration of the process.
    yield deploy.build({deploy.FILES: str(file)}, cfg.CONF)
    cfg.CONF.reset()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def ask(app, keystone, projects):
    def ask(user, path='/v1/groups', document=SHOP):
        request = webob.Request.blank(
            path, method='POST', content_type='application/json',
            json={'group': document})
        request.headers['X-Auth-Token'] = keystone.session(
            user, project_id=projects[user]).get_token()
        return request.get_response(app)
    return ask


def test_keystone_limits_are_enforced(ask, keystone, service, projects):
    # A limit that is not registered is 0.
    for path in ('/v1/groups', '/v1/plans'):
        assert refusal(ask('ann', path))[:2] == OVER
    for name, number in (('groups', 2), ('members', 3), ('plans', 1)):
        keystone.create(
            'registered_limit', service_id=service, region_id='RegionOne',
            resource_name=f'holistic_{name}', default_limit=number)
    # A shop has four members.
    assert 'holistic_members: the limit of the project is 3' in (
        refusal(ask('ann'))[2])
    keystone.create(
        'limit', service_id=service, region_id='RegionOne',
        project_id=projects['ann'], resource_name='holistic_members',
        resource_limit=100)
    # The limit of one project does not apply to another project.
    assert [ask(user).status_int for user in ('ann', 'eve')] == [202, 403]
    assert ask('ann').status_int == 202
    assert 'holistic_groups: the limit of the project is 2; 2 are in use' in (
        refusal(ask('ann'))[2])
    assert ask('ann', '/v1/plans').status_int == 202
    assert 'holistic_plans: the limit of the project is 1' in (
        refusal(ask('ann', '/v1/plans'))[2])
    assert ask('eve', '/v1/plans').status_int == 202


def test_an_unknown_limits_endpoint_is_reported_as_503(ask):
    cfg.CONF.set_override('endpoint_service_type', 'pigeon', 'oslo_limit')
    try:
        assert refusal(ask('ann'))[:2] == (503, 'holistic.limits_unavailable')
    finally:
        cfg.CONF.clear_override('endpoint_service_type', 'oslo_limit')
