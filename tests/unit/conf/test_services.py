# SPDX-License-Identifier: Apache-2.0
"""Options for Placement and Nova, as in the files of other services."""

from oslo_config import cfg
import pytest

from nova_holistic.cli.components.connections import connect, NotConfigured
from nova_holistic.conf import inventory, services

ACCOUNT = '''
[placement]
auth_type = password
auth_url = http://controller/identity
username = holistic
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
'''


@pytest.fixture
def configured(tmp_path):
    def configured(further=''):
        conf = cfg.ConfigOpts()
        services.register_opts(conf)
        inventory.register_opts(conf)
        path = tmp_path / 'nova-holistic.conf'
        path.write_text(ACCOUNT + further)
        conf(['--config-file', str(path)])
        return conf
    return configured


def test_internal_endpoints_are_preferred(configured):
    assert connect(configured(), 'placement').interface == [
        'internal', 'public']


def test_the_deprecated_option_interface_is_read(configured):
    conf = configured('interface = admin\n')
    assert connect(conf, 'placement').interface == ['admin']


def test_conflicting_options_are_reported(configured):
    conf = configured('version = 1\nmin_version = 1\n')
    with pytest.raises(NotConfigured, match=r'^\[placement\]: '):
        connect(conf, 'placement')


@pytest.mark.parametrize('section, further', [
    ('placement', ''), ('nova', 'auth_section = nova\n[nova]\n')])
def test_an_unknown_auth_type_is_reported(configured, section, further):
    conf = configured(f'{further}auth_type = none_such\n')
    with pytest.raises(NotConfigured, match=(
            rf'^\[{section}\] auth_type: .*none_such')):
        connect(conf, 'placement')


def test_an_unknown_section_of_the_account_is_reported(configured):
    with pytest.raises(NotConfigured, match=(
            r'^\[placement\] auth_section: .*account')):
        connect(configured('auth_section = account\n'), 'placement')


@pytest.mark.parametrize('option, value', [
    ('timeout', 'soon'), ('insecure', 'perhaps'), ('connect_retries', 'few')])
def test_an_invalid_value_is_reported_with_its_group(
        configured, option, value):
    """The groups of all services have options of these names."""
    with pytest.raises(NotConfigured, match=(
            r'^\[placement\]: Value for option .*nova-holistic\.conf')):
        connect(configured(f'{option} = {value}\n'), 'placement')


@pytest.mark.parametrize('option', ['cafile', 'certfile', 'keyfile'])
def test_a_missing_file_for_tls_is_named(configured, option):
    conf = configured(f'{option} = /nonexistent/ca.pem\n')
    with pytest.raises(NotConfigured, match=(
            fr'^\[placement\] {option}: /nonexistent/ca.pem does not exist')):
        connect(conf, 'placement')


def test_a_folder_of_certificates_is_accepted(configured, tmp_path):
    conf = configured(f'cafile = {tmp_path}\n')
    assert connect(conf, 'placement').session.verify == str(tmp_path)


def test_each_thread_that_reads_the_inventory_keeps_a_connection(configured):
    conf = configured('[inventory]\nthreads = 40\n')
    pool = connect(conf, 'placement').session.session.get_adapter(
        'https://placement').poolmanager.connection_from_url(
            'https://placement')
    assert pool.pool.maxsize >= 40
