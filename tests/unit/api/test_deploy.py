# SPDX-License-Identifier: Apache-2.0
"""The API as a service: the middleware in front of the application."""

import base64
import logging

from oslo_config import cfg
import pytest
import webob

from nova_holistic.api import deploy
from nova_holistic.api.policy_enforcer import InvalidPolicyFile
from nova_holistic.cli.components.connections import NotConfigured
from nova_holistic import exceptions
from nova_holistic.table import errors
from nova_holistic.table import migration
from tests.tables import new_table
from tests.unit.api.service import ADMIN

CONFIGURATION = '''
[DEFAULT]
transport_url = fake:///
[holistic_database]
connection = {url}
[keystone_authtoken]
auth_type = password
auth_url = http://127.0.0.1:1/v3
username = holistic
password = secret
www_authenticate_uri = http://keystone.example.org/v3
http_request_max_retries = 0
[oslo_middleware]
enable_proxy_headers_parsing = true
'''


@pytest.fixture
def url(tmp_path):
    return f'sqlite:///{tmp_path}/table.sqlite'


@pytest.fixture
def build(tmp_path, url):
    """A function that creates the application of a WSGI server."""
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(CONFIGURATION.format(url=url))
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield lambda: deploy.build({deploy.FILES: str(file)}, cfg.ConfigOpts())
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def app(build, tmp_path):
    """The application of a WSGI server."""
    new_table(tmp_path)
    return build()


def test_an_unreadable_configuration_file_is_named(tmp_path):
    with pytest.raises(cfg.Error, match=str(tmp_path)):
        deploy.build({deploy.FILES: str(tmp_path)}, cfg.ConfigOpts())


def test_the_api_refuses_to_start_on_an_old_schema(build, url):
    migration.upgrade(url, '0002')
    with pytest.raises(errors.SchemaTooOld, match='db upgrade'):
        build()


@pytest.mark.parametrize(('option', 'message'), [
    ('[holistic_api]\nmax_lease = week', r'\[holistic_api\]: .* max_lease '),
    ('[planner]\nobjective = beauty', r"\[planner\] objective 'beauty'"),
])
def test_the_api_refuses_to_start_with_an_invalid_option(
        build, tmp_path, option, message):
    new_table(tmp_path)
    with open(tmp_path / 'nova-holistic.conf', 'a') as file:
        file.write(option)
    with pytest.raises((cfg.Error, exceptions.HolisticError), match=message):
        build()


@pytest.mark.parametrize('content', [
    '"holistic:groups:create": [', '- "holistic:groups:create"',
    '"holistic:groups:create": 5', '{}: "@"'.format('é')])
def test_the_api_refuses_to_start_with_an_invalid_policy_file(
        build, tmp_path, content):
    new_table(tmp_path)
    rules = tmp_path / 'policy.yaml'
    rules.write_bytes(content.encode('latin-1'))
    with open(tmp_path / 'nova-holistic.conf', 'a') as file:
        file.write(f'[oslo_policy]\npolicy_file = {rules}\n')
    with pytest.raises(InvalidPolicyFile, match=str(rules)):
        build()


@pytest.mark.parametrize(('option', 'warns'), [
    ('policy_file = {}/rules.yaml', True),
    ('policy_file = rules.yaml', True), ('', False)])
def test_the_api_warns_of_a_policy_file_that_does_not_exist(
        build, tmp_path, option, warns):
    new_table(tmp_path)
    log = tmp_path / 'api.log'
    with open(tmp_path / 'nova-holistic.conf', 'a') as file:
        file.write(f'[DEFAULT]\nlog_file = {log}\n[oslo_policy]\n'
                   + option.format(tmp_path))
    build()
    assert ('rules.yaml does not exist, so the default rules apply'
            in log.read_text()) == warns


def get(app, path, **headers):
    request = webob.Request.blank(path)
    request.headers.update(headers)
    return request.get_response(app)


def test_discovery_needs_no_token(app):
    for path in ('/', '/v1', '/v1/openapi.json'):
        assert get(app, path).status_int == 200


def test_a_health_check_needs_no_token(app):
    assert get(app, '/healthcheck').status_int == 200


def test_a_request_without_a_token_names_keystone(app):
    answer = get(app, '/v1/groups')
    assert answer.status_int == 401
    assert 'keystone.example.org' in answer.headers['WWW-Authenticate']
    assert answer.json['errors'][0]['code'] == 'holistic.unauthorized'


def test_forged_identity_headers_are_refused(app):
    assert get(app, '/v1/groups', **ADMIN.headers()).status_int == 401


def test_a_token_that_cannot_be_validated_is_refused(app):
    answer = get(app, '/v1/groups', **{'X-Auth-Token': 'a' * 32})
    assert answer.status_int == 503
    assert answer.headers['Retry-After'] == '5'
    (error,) = answer.json['errors']
    assert error['code'] == 'holistic.keystone_unavailable'


def test_the_log_names_the_options_of_keystone_without_an_endpoint(
        build, tmp_path, caplog):
    new_table(tmp_path)
    with open(tmp_path / 'nova-holistic.conf', 'a') as file:
        file.write('[keystone_authtoken]\nauth_url =\n')
    app = build()
    logging.getLogger().addHandler(caplog.handler)
    answer = get(app, '/v1/groups', **{'X-Auth-Token': 'a' * 32})
    assert answer.status_int == 503
    assert answer.json['errors'][0]['code'] == 'holistic.keystone_unavailable'
    assert 'check [keystone_authtoken]: ' in caplog.text


def test_responses_without_a_valid_token_have_the_version(app):
    for token, status in ({}, 401), ({'X-Auth-Token': 'a' * 32}, 503):
        answer = get(app, '/v1/groups', **{
            'OpenStack-API-Version': 'holistic 1.3', **token})
        assert (answer.status_int, answer.headers['OpenStack-API-Version']
                ) == (status, 'holistic 1.3')
        assert answer.headers['Vary'] == 'OpenStack-API-Version'
        assert answer.headers['Cache-Control'] == 'no-cache'


def test_version_links_lead_to_the_version_document(app):
    (version,) = get(app, '/').json['versions']
    for link in version['links']:
        path = link['href'].removeprefix('http://localhost')
        assert get(app, path).json == {'version': version}


def test_every_answer_has_the_id_of_its_request(app):
    for path in ('/', '/v1/groups', '/nowhere'):
        answer = get(app, path)
        assert answer.headers['X-Openstack-Request-Id'].startswith('req-')
    error = get(app, '/v1/groups')
    assert error.json['errors'][0]['request_id'] == (
        error.headers['X-Openstack-Request-Id'])


def test_links_follow_the_forwarded_headers(app):
    answer = get(app, '/', **{'X-Forwarded-Proto': 'https',
                              'X-Forwarded-Host': 'cloud.example.org',
                              'X-Forwarded-Prefix': '/placement'})
    (version,) = answer.json['versions']
    assert version['links'][0]['href'] == (
        'https://cloud.example.org/placement/v1/')


def test_a_check_of_novas_quota_needs_the_options_of_nova(
        build, tmp_path):
    new_table(tmp_path)
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(file.read_text() + (
        '[holistic_api]\ncheck_nova_quota = true\n'))
    with pytest.raises(NotConfigured, match=r'\[nova\] auth_type'):
        build()
    file.write_text(file.read_text() + (
        '[nova]\nauth_type = admin_token\ntoken = admin\n'
        'endpoint = http://nova.example.org\n'))
    build()


def test_a_parent_with_keys_needs_no_further_options(build, tmp_path):
    """A parent encrypts application credentials with the keys."""
    new_table(tmp_path)
    children = tmp_path / 'children.yaml'
    children.write_text(
        'children:\n- {name: ams, keystone: "http://ams.example.org/v3"}\n')
    key = base64.urlsafe_b64encode(b'k' * 32).decode()
    keys = f'[boot]\nencryption_keys = {key}\n'
    file = tmp_path / 'nova-holistic.conf'
    text = file.read_text()
    file.write_text(text + keys)
    with pytest.raises(NotConfigured):
        build()
    file.write_text(f'{text}{keys}[federation]\nchildren = {children}\n')
    build()
