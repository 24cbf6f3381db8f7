# SPDX-License-Identifier: Apache-2.0
"""The DevStack plugin, as far as it runs without DevStack."""

import configparser
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.unit.devstack import stub

CONF = '/etc/nova-holistic/nova-holistic.conf'
NOVA_CONF = stub.VARIABLES['NOVA_CONF']
SAMPLE = stub.PLUGIN / 'local.conf.sample'
ASKED_FOR = {'ADMIN_PASSWORD', 'RABBIT_PASSWORD', 'SERVICE_PASSWORD'}
"""Passwords that stack.sh reads from a terminal. The password of the
database is a variable."""
CONFIGURES = ('iniset', 'iniset_multiline', 'enable_service', 'openstack')
EVERY_SETTING = {
    'HOLISTIC_NOVA_API_FILTER': 'True',
    'ENABLED_SERVICES': stub.VARIABLES['ENABLED_SERVICES'] + ',tls-proxy'}


@pytest.fixture
def paste_ini(tmp_path):
    """Nova's api-paste.ini, as DevStack copies it."""
    return pathlib.Path(shutil.copy(
        pathlib.Path(sys.prefix) / 'etc/nova/api-paste.ini', tmp_path))


@pytest.fixture
def run(tmp_path, paste_ini):
    def run(script, **variables):
        done = stub.run(script, tmp_path, paste_ini, **variables)
        assert not done.of('UNKNOWN'), done.of('UNKNOWN')
        assert done.code == 0, done.errors
        return done
    return run


@pytest.mark.parametrize('script', stub.PHASES)
@pytest.mark.parametrize('variables', [{}, EVERY_SETTING])
def test_every_called_function_exists(run, script, variables):
    (flags, _), = run(script, **variables).of('RUNS_AFTER')
    # Errors and unset variables end the script immediately.
    assert {'e', 'u'} <= set(flags)


@pytest.mark.parametrize('line', [
    'function_that_is_not_there', 'if not_there; then :; fi',
    'echo "$NOT_SET"', 'false'])
def test_the_stub_finds_plugin_errors(tmp_path, paste_ini, monkeypatch, line):
    spoilt = tmp_path / 'spoilt'
    shutil.copytree(stub.PLUGIN, spoilt)
    with (spoilt / 'plugin.sh').open('a') as plugin:
        plugin.write(f'\n{line}\n')
    monkeypatch.setattr(stub, 'PLUGIN', spoilt)
    done = stub.run('stack.sh', tmp_path, paste_ini)
    assert done.code != 0 or done.of('UNKNOWN')


def test_the_stub_sets_only_variables_of_devstack():
    known = {name for names in stub.NAMES['variables'].values()
             for name in names}
    assert set(stub.VARIABLES) - known == set()


def test_the_sample_file_is_not_ignored_by_git():
    asked = subprocess.run(
        ['git', 'check-ignore', '-q', SAMPLE], cwd=SAMPLE.parent)
    assert SAMPLE.exists()
    assert asked.returncode != 0, 'it would never be committed'


def test_the_sample_sets_every_setting_of_the_plugin():
    text = SAMPLE.read_text()
    assert '[[local|localrc]]' in text
    settings = set(re.findall(
        r'^(HOLISTIC_\w+)=', (stub.PLUGIN / 'settings').read_text(), re.M))
    known = {name for names in stub.NAMES['variables'].values()
             for name in names}
    shown = set(re.findall(r'^(\w+)=', text, re.M))
    assert settings <= shown <= settings | known | ASKED_FOR
    called = set(re.findall(r'^(\w+) ', text, re.M))
    assert called <= set(stub.functions('stack.sh'))


def test_the_values_of_the_sample_equal_the_defaults(run):
    shown = dict(
        re.findall(r'^(HOLISTIC_\w+)=(.+)$', SAMPLE.read_text(), re.M))
    with_it, without = run('stack.sh', **shown), run('stack.sh')
    assert [call for call in with_it.calls if call[0] in CONFIGURES] == [
        call for call in without.calls if call[0] in CONFIGURES]


def test_the_service_is_configured(run):
    done = run('stack.sh')
    found = done.ini(CONF)
    assert found['holistic_database']['connection'] == (
        'mysql+pymysql://root@localhost/holistic'
        '?charset=utf8mb4&plugin=dbcounter',)
    assert found['topology'] == {'driver': ('aggregates',),
                                 'levels': ('az,rack,host',)}
    assert done.of('iniset_rpc_backend') == [('holistic', CONF)]
    assert done.of('configure_keystone_authtoken_middleware') == [
        (CONF, 'holistic')]
    assert done.of('configure_keystoneauth') == [
        (CONF, 'holistic', service)
        for service in ('placement', 'nova', 'glance')]
    for service in ('placement', 'nova', 'glance'):
        assert found[service] == {'region_name': ('RegionOne',)}
    assert found['DEFAULT'] == {'debug': ('True',)}
    assert done.of('setup_logging') == [(CONF,)]
    assert found['oslo_middleware'] == {
        'enable_proxy_headers_parsing': ('True',)}


def test_the_configuration_folder_is_created_before_its_file(run):
    done = run('stack.sh')
    made = ('sudo', 'install', '-d', '-o', 'stack', '/etc/nova-holistic')
    first = next(i for i, call in enumerate(done.calls) if CONF in call)
    assert done.calls.index(made) < first


def test_a_disabled_plugin_does_nothing(run):
    done = run('stack.sh', DISABLED_SERVICES=(
        'holistic-api,holistic-engine-1,holistic-engine-2'))
    asked = {'define_plugin', 'trueorfalse', 'enable_service', 'RUNS_AFTER'}
    assert {name for name, *_ in done.calls} == asked


def test_stack_fails_if_the_api_does_not_start(tmp_path, paste_ini):
    done = stub.run('stack.sh', tmp_path, paste_ini, STUB_WAIT='1')
    (_, why), = done.of('die')
    assert why == 'holistic-api did not start'


def test_the_schema_is_created_before_processes_start(run):
    done = run('stack.sh')
    names = [call[0] for call in done.calls]
    assert (names.index('setup_develop') < names.index('recreate_database')
            < names.index('mysql') < names.index('nova-holistic-manage')
            < names.index('run_process'))
    assert done.of('recreate_database') == [('holistic',)]
    assert done.of('nova-holistic-manage') == [
        ('--config-file', CONF, 'db', 'upgrade')]


def test_the_database_stores_all_characters(run):
    assert run('stack.sh').of('mysql') == [(
        '-uroot', '-psecret', '-h192.0.2.1', '-e',
        'ALTER DATABASE holistic CHARACTER SET utf8mb4')]
    assert not run('stack.sh', DATABASE_TYPE='postgresql').of('mysql')


def test_the_service_is_registered_in_keystone(run):
    done = run('stack.sh')
    assert done.of('create_service_user') == [('holistic', 'admin')]
    (name, kind, _), = done.of('get_or_create_service')
    assert (name, kind) == ('holistic', 'holistic')
    assert done.of('get_or_create_endpoint') == [
        ('holistic', 'RegionOne', 'http://192.0.2.1/holistic')]


def test_the_api_and_every_engine_are_started(run):
    done = run('stack.sh', HOLISTIC_ENGINES='3')
    started = dict(done.of('run_process'))
    assert list(started) == [
        'holistic-engine-1', 'holistic-engine-2', 'holistic-engine-3',
        'holistic-api', 'n-sch']
    # run_process starts only enabled services.
    enabled = {name for names in done.of('enable_service') for name in names}
    assert set(started) - {'n-sch'} == enabled
    assert started['holistic-engine-2'] == (
        f'{done.bin_folder}/nova-holistic-engine --config-file {CONF}')
    assert started['holistic-api'].startswith(f'{done.bin_folder}/uwsgi ')
    (conf, application, url, http, name), = done.of('write_uwsgi_config')
    assert conf in started['holistic-api']
    assert (application, url, http, name) == (
        'nova_holistic.api.wsgi:application', '/holistic', '', 'holistic-api')
    assert done.ini(conf) == {'uwsgi': {
        'threads': ('8',), 'socket-timeout': ('60',)}}
    assert done.of('wait_for_service') == [
        ('60', 'http://192.0.2.1/holistic/healthcheck')]


def test_the_scheduler_is_replaced(run):
    done = run('stack.sh')
    found = done.ini(NOVA_CONF)
    assert found['scheduler'] == {'driver': ('holistic_scheduler',)}
    assert found['filter_scheduler'] == {
        'available_filters': (
            'nova.scheduler.filters.all_filters',
            'nova_holistic.scheduler.filters.all_filters'),
        'enabled_filters': (
            'ComputeFilter,ImagePropertiesFilter,HolisticGroupFilter',),
        'weight_classes': (
            'nova.scheduler.weights.all_weighers,'
            'nova_holistic.scheduler.weights.all_weighers',)}
    assert found['holistic_database'] == done.ini(CONF)['holistic_database']
    # The scheduler of DevStack is stopped before the scheduler of this project
    # starts.
    stopped = done.calls.index(('stop_process', 'n-sch'))
    assert done.calls[stopped + 1] == (
        'run_process', 'n-sch',
        f'{done.bin_folder}/nova-holistic-scheduler --config-file {NOVA_CONF}')


def test_a_compute_node_keeps_its_nova_configuration(run):
    done = run('stack.sh', ENABLED_SERVICES='n-cpu')
    assert done.ini(NOVA_CONF) == {}
    assert 'n-sch' not in dict(done.of('run_process'))


def test_nova_api_is_unchanged_by_default(run, paste_ini):
    before = paste_ini.read_text()
    done = run('stack.sh')
    assert paste_ini.read_text() == before
    assert done.ini(str(paste_ini)) == {}


def test_the_filter_follows_keystonecontext_in_the_pipeline(run, paste_ini):
    done = run('stack.sh', **EVERY_SETTING)
    pipelines = configparser.ConfigParser()
    pipelines.read(paste_ini)
    for name, then in (('', 'osapi_compute_app_v21'),
                       ('_legacy_v2_compatible', 'legacy_v2_compatible')):
        words = pipelines[f'composite:openstack_compute_api_v21{name}'][
            'keystone'].split()
        at = words.index('keystonecontext')
        assert words[at:at + 3] == ['keystonecontext', 'holistic', then]
        assert words.count('holistic') == 1
    assert done.ini(str(paste_ini)) == {'filter:holistic': {
        'paste.filter_factory': (
            'nova_holistic.api.nova_filter:filter_factory',)}}


def test_nova_api_on_a_node_of_its_own_reads_the_table(run):
    done = run('stack.sh', ENABLED_SERVICES='n-api',
               HOLISTIC_NOVA_API_FILTER='True')
    assert done.ini(NOVA_CONF)['holistic_database'] == (
        done.ini(CONF)['holistic_database'])


def test_computes_are_assigned_to_racks_in_rotation(run):
    done = run('stack.sh', HOLISTIC_RACKS='2')
    aggregate = ('openstack', '--os-cloud', 'devstack-admin', 'aggregate')
    assert done.of(*aggregate, 'create') == [
        ('--property', 'rack=r1', 'rack-r1'),
        ('--property', 'rack=r2', 'rack-r2')]
    assert done.of(*aggregate, 'add', 'host') == [
        ('rack-r1', 'devstack1'), ('rack-r2', 'devstack2'),
        ('rack-r1', 'devstack3')]


@pytest.mark.parametrize('variables', [
    {'HOLISTIC_RACKS': '0'}, {'VIRT_DRIVER': 'libvirt'}])
def test_no_racks_are_created_unless_configured(run, variables):
    assert run('stack.sh', **variables).of('openstack') == []


def test_tls_endpoints_use_the_ca_bundle(run):
    done = run('stack.sh', **EVERY_SETTING)
    assert done.of('get_or_create_endpoint') == [
        ('holistic', 'RegionOne', 'https://192.0.2.1/holistic')]
    for service in ('placement', 'nova', 'glance'):
        assert done.ini(CONF)[service]['cafile'] == (
            stub.VARIABLES['SSL_BUNDLE_FILE'],)


def test_unstack_stops_every_started_process(run):
    started = {name for name, _ in run('stack.sh').of('run_process')}
    stopped = {name for name, in run('unstack.sh').of('stop_process')}
    # DevStack stops its own n-sch.
    assert stopped == started - {'n-sch'}


def test_clean_removes_the_configuration(run):
    done = run('clean.sh')
    removed = {path for _, path in done.of('sudo', 'rm')}
    assert removed == {'/etc/nova-holistic',
                       '/etc/apache2/sites-available/holistic-api.conf'}
    assert [name for _, name in done.of('remove_uwsgi_config')] == [
        'holistic-api']


def test_the_service_report_interval_defaults_to_10_seconds(run):
    for said, expected in (({}, '10'),
                           ({'NOVA_SERVICE_REPORT_INTERVAL': '30'}, '30')):
        (_, interval), = run('stack.sh', **said).of('RUNS_AFTER')
        assert interval == expected
