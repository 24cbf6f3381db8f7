# SPDX-License-Identifier: Apache-2.0
"""HTTP connections respect the environment variables, and read them only
once."""

from keystoneauth1 import session as ks_session
import pytest

from nova_holistic.inventory import http_environment

NAMES = ('http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
         'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE')


@pytest.fixture
def variable(monkeypatch):
    """Set a variable in an environment without any of the names."""
    for each in NAMES:
        monkeypatch.delenv(each, raising=False)
        monkeypatch.delenv(each.upper(), raising=False)
    return monkeypatch.setenv


def looked_up(verify=True):
    session = ks_session.Session(verify=verify)
    http_environment.skip_environment_lookups(session)
    return session


def test_an_environment_without_variables_is_read_once(variable):
    session = looked_up()
    assert (session.session.trust_env, session.verify) == (False, True)


@pytest.mark.parametrize('name, value', [
    ('http_proxy', 'http://proxy:3128'), ('HTTPS_PROXY', 'http://proxy:3128'),
    ('all_proxy', 'socks5://proxy')])
def test_the_library_requests_handles_a_proxy(variable, name, value):
    variable(name, value)
    assert looked_up().session.trust_env


@pytest.mark.parametrize('name', ['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'])
def test_certificates_of_the_environment_are_used(variable, name):
    variable(name, '/etc/ca.pem')
    session = looked_up()
    assert session.session.trust_env is False
    assert session.verify == '/etc/ca.pem'


@pytest.mark.parametrize('configured', ['/etc/own.pem', False])
def test_the_configuration_comes_first(variable, configured):
    variable('REQUESTS_CA_BUNDLE', '/etc/ca.pem')
    assert looked_up(configured).verify == configured
