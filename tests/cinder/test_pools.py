# SPDX-License-Identifier: Apache-2.0
"""The storage pools of a real Cinder, as plans see them."""

import json
import threading

from nova_holistic.cli import main, manage
from nova_holistic.inventory.cinder.pool_locations import pool_locations
from nova_holistic.inventory.cinder.pools import read_pools
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.cloud.inventory import MAX_UNIT
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.storage_pools import VOLUME_GB, volume_types
from nova_holistic.topology.aggregates import AggregatesTopology
import pytest

from tests.cinder.pool_driver import FAILS

NVME, THIN, THICK, RBD = (
    'cmp-1@local#nvme', 'storage-1@array#thin', 'storage-1@array#thick',
    'storage-2@ceph#rbd')

INVENTORY = '''
levels: [rack, host]
hosts:
  - name: cmp-1
    location: [r1]
    labels: {machine: m1}
    resources: {VCPU: {total: 4}}
  - {name: cmp-2, location: [r2], resources: {VCPU: {total: 8}}}
'''
LOCATIONS = INVENTORY + '''
pools:
  - {name: storage-1@array, location: [r2]}
  - {name: storage-2, location: [r2], labels: {row: x}}
'''
CONFIGURATION = '''
[placement]
auth_type = none
[nova]
auth_type = none
[cinder]
auth_type = admin_token
endpoint = {endpoint}
token = {token}
[inventory]
driver = file
path = {directory}/inventory.yaml
[topology]
driver = file
path = {directory}/topology.yaml
'''


def pools(cinder):
    """Each pool, by name."""
    cinder.report()
    snapshot = Snapshot(('az', 'host'), ())
    return {pool.name: pool for pool in read_pools(
        ServiceClient('cinder', cinder.adapter()), pool_locations(
            snapshot, AggregatesTopology(('az', 'host'))))}


def free(cinder):
    return {name: pool.inventories[VOLUME_GB].free
            for name, pool in pools(cinder).items()}


def test_pools_have_the_capacity_that_cinder_offers(cinder):
    assert free(cinder) == {NVME: 90, THIN: 200, THICK: 80, RBD: MAX_UNIT}
    assert all(pool.enabled for pool in pools(cinder).values())


def test_pools_offer_the_types_whose_extra_specs_they_meet(cinder):
    types = {name: [each for each in volume_types(pool)
                    if each != '__DEFAULT__']
             for name, pool in pools(cinder).items()}
    assert types == {NVME: ['fast'], THIN: ['fast'], THICK: ['cheap'],
                     RBD: ['cheap']}
    assert all('__DEFAULT__' in volume_types(pool)
               for pool in pools(cinder).values())


def test_a_pool_is_in_the_zone_of_its_service(cinder):
    assert {(pool.availability_zone, pool.location)
            for pool in pools(cinder).values()} == {('nova', ('nova',))}


def test_the_capacity_follows_creates_and_deletes(cinder):
    before = free(cinder)
    volumes = [cinder.create(7, volume_type='fast') for _ in range(2)]
    assert {each['status'] for each in volumes} == {'available'}
    after = free(cinder)
    where = [each['os-vol-host-attr:host'] for each in volumes]
    assert {name: before[name] - 7 * where.count(name) for name in before
            } == after
    for each in volumes:
        cinder.delete(each['id'])
    assert free(cinder) == before


def test_the_capacity_is_right_after_ten_creates_at_once(cinder):
    before, volumes = free(cinder), []
    clients = [threading.Thread(target=lambda: volumes.append(
        cinder.create(3, volume_type='cheap'))) for _ in range(10)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    where = [each['os-vol-host-attr:host'] for each in volumes]
    assert len(where) == 10
    assert free(cinder) == {
        name: before[name] if name == RBD
        else before[name] - 3 * where.count(name) for name in before}
    for each in volumes:
        cinder.delete(each['id'])
    assert free(cinder) == before


def test_a_failed_create_takes_no_capacity(cinder):
    before = free(cinder)
    failed = cinder.create(5, name=FAILS, volume_type='cheap')
    assert failed['status'] == 'error'
    assert free(cinder) == before
    cinder.delete(failed['id'])
    assert free(cinder) == before


@pytest.fixture
def exported(cinder, tmp_path, capsys):
    """The inventory that the manage command exports, as a file."""
    (tmp_path / 'inventory.yaml').write_text(INVENTORY)
    (tmp_path / 'topology.yaml').write_text(LOCATIONS)
    config = tmp_path / 'nova-holistic.conf'
    config.write_text(CONFIGURATION.format(
        directory=tmp_path, endpoint=cinder.url, token=cinder.token))
    cinder.report()
    code = manage.main(['--config-file', str(config), 'inventory', 'export'])
    output, complaint = capsys.readouterr()
    assert code == 0, complaint
    (tmp_path / 'cloud.json').write_text(output)
    return tmp_path / 'cloud.json'


def test_pools_are_located_by_host_backend_or_file(exported):
    by_name = {pool['name']: pool for pool
               in json.loads(exported.read_text())['pools']}
    assert by_name[NVME]['location'] == ['r1']
    assert by_name[NVME]['labels']['machine'] == 'm1'
    assert by_name[THIN]['location'] == by_name[THICK]['location'] == ['r2']
    assert by_name[RBD]['location'] == ['r2']
    assert by_name[RBD]['labels']['row'] == 'x'


def test_volumes_and_servers_are_planned_on_the_exported_cloud(
        exported, tmp_path, capsys):
    group = tmp_path / 'group.yaml'
    group.write_text('''
name: db
policies: [{type: affinity, level: rack}]
members:
  - {name: node, count: 4, resources: {VCPU: 2}}
  - {name: data, count: 4, kind: volume, size: 50, volume_type: fast}
''')
    assert main.main(['plan', str(group), '--inventory', str(exported),
                      '--format', 'json']) == 0
    plan = json.loads(capsys.readouterr().out)
    assert {each['member'].split('-')[0]: each['host']
            for each in plan['placements']} == {'node': 'cmp-2', 'data': THIN}


def test_cinder_that_does_not_answer_is_an_error(tmp_path, capsys):
    (tmp_path / 'inventory.yaml').write_text(INVENTORY)
    (tmp_path / 'topology.yaml').write_text(LOCATIONS)
    config = tmp_path / 'nova-holistic.conf'
    config.write_text(CONFIGURATION.format(
        directory=tmp_path, endpoint='http://127.0.0.1:9/v3', token='t'))
    code = manage.main(['--config-file', str(config), 'inventory', 'export'])
    output, complaint = capsys.readouterr()
    assert code != 0 and output == ''
    assert 'cinder' in complaint and 'Traceback' not in complaint
