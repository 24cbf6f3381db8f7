# SPDX-License-Identifier: Apache-2.0
"""The checks before an upgrade."""

import json

import pytest

from nova_holistic.cli import status
from nova_holistic.cli.status_checks import places
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.table import migration
from tests.functional.engine.conftest import CONFIGURATION

HOST = """
  - name: {name}
    location: {location}
    resources: {{VCPU: {{total: 2, used: 0}}}}
"""
RACKS = 'levels: [rack, host]\nhosts:' + ''.join(
    HOST.format(name=name, location=location)
    for name, location in (('a1', '[a]'), ('b1', '[b]')))


@pytest.fixture
def checked(tmp_path, world, capsys, own_logging):
    """A function that runs the checks; it returns the exit code, and the
    result and text of each check."""
    def checked(inventory=RACKS, more='', **values):
        (tmp_path / 'inventory.yaml').write_text(inventory)
        file = tmp_path / 'nova-holistic.conf'
        file.write_text(CONFIGURATION.format(**{
            'directory': tmp_path, 'placement': world.endpoint,
            'nova': 'http://nova.example.org',
            'table': f'sqlite:///{tmp_path}/table.sqlite', **values}) + more)
        code = status.main(['--config-file', str(file), 'upgrade', 'check',
                            '--json'])
        return code, {each['check']: (each['result'], each['details'])
                      for each in json.loads(capsys.readouterr().out)[
                          'checks']}
    return checked


def test_every_check_succeeds_on_a_correct_installation(checked):
    code, found = checked()
    assert code == 0
    assert set(found.values()) == {(0, None)}
    assert len(found) == 7


def test_upgrade_check_shows_the_table(world, tmp_path, capsys,
                                       own_logging):
    code = status.main(['--config-dir', str(tmp_path), 'upgrade', 'check'])
    assert code == 2
    assert '| Check: Placement' in capsys.readouterr().out


@pytest.mark.parametrize('url', [
    '', 'nonsense', 'unknown://host/name', 'mysql+pymysql://host:port/name'])
def test_an_invalid_url_of_the_database_fails_the_checks(checked, url):
    code, found = checked(table=url)
    assert code == 2
    assert {check for check, (result, _) in found.items() if result} == {
        'Database', 'Schema of the placement table'}
    assert {details for result, details in found.values() if result} == {
        '[holistic_database] connection is not the URL of a supported '
        'database'}


def test_an_invalid_value_fails_the_checks_that_read_it(checked):
    code, found = checked(more='\n[holistic_database]\nmax_pool_size = big\n'
                               '[reconciler]\ngrace = -1\n')
    assert code == 2
    assert {check for check, (result, _) in found.items() if result} == {
        'Values of the options', 'Database', 'Schema of the placement table'}
    assert found['Values of the options'][1].startswith(
        '[holistic_database]: Value for option max_pool_size ')


def test_an_old_schema_fails_the_check(checked, tmp_path):
    old = f'sqlite:///{tmp_path}/old.sqlite'
    migration.upgrade(old, '0001')
    code, found = checked(table=old)
    assert code == 2
    assert found['Database'] == (0, None)
    result, shown = found['Schema of the placement table']
    assert result == 2
    assert 'nova-holistic-manage db upgrade' in shown


def test_an_unreachable_database_fails_the_check(checked):
    code, found = checked(table='sqlite:////nowhere/at/all.sqlite')
    assert code == 2
    assert found['Database'][0] == 2
    assert found['Schema of the placement table'][0] == 2


def test_plugins_that_are_not_installed_are_named(checked):
    code, found = checked(
        more='\n[planner]\nobjective = beauty\nsolver = oracle\n')
    assert code == 2
    result, shown = found['Drivers, objective and solver']
    assert result == 2
    assert "[planner] objective 'beauty'" in shown
    assert "[planner] solver 'oracle'" in shown


def test_an_absent_or_old_placement_fails_the_check(checked, requests_mock):
    old = 'http://placement.example.org'
    requests_mock.get(old + '/', json={'versions': [{
        'id': 'v1.0', 'max_version': '1.36', 'min_version': '1.0'}]})
    code, found = checked(placement=old)
    assert code == 2
    assert found['Placement'] == (
        2, 'Placement supports microversions up to 1.36, and holds need 1.38: '
        'upgrade Placement first')
    requests_mock.get(old + '/', status_code=503)
    assert checked(placement=old)[1]['Placement'][0] == 2
    requests_mock.get(old + '/', text='<html>')
    assert checked(placement=old)[1]['Placement'][0] == 2


def test_hosts_without_a_domain_of_a_level_cause_a_warning():
    snapshot = Snapshot(('room', 'rack', 'host'), tuple(
        Host(name, name, name, place, FrozenMapping())
        for name, place in (('a1', ('r', 'a')), ('b1', ('r',)), ('c1', ()))))
    found = places(snapshot)
    assert (found.code, found.details) == (
        1, '1 of 3 hosts have no room; 2 of 3 hosts have no rack')


def test_a_cloud_without_hosts_causes_a_warning(checked):
    code, found = checked('{levels: [host], hosts: []}')
    assert code == 1
    assert found['Levels of the topology'] == (1, 'the inventory has no hosts')


@pytest.mark.parametrize('document', ['levels: [host, rack]\nhosts: []',
                                      'levels: ['])
def test_invalid_levels_fail_the_check(checked, document):
    code, found = checked(document)
    assert code == 2
    assert found['Levels of the topology'][0] == 2


def test_a_missing_configuration_is_reported(tmp_path, capsys, own_logging):
    code = status.main(['--config-file', str(tmp_path / 'none.conf'),
                        'upgrade', 'check'])
    assert code == 255
    line, end = capsys.readouterr().err.split('\n')
    assert line.startswith('nova-holistic-status: ')
    assert end == ''
