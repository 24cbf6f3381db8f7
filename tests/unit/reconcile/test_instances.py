# SPDX-License-Identifier: Apache-2.0
"""Servers as Nova's API reports them to an administrator."""

from datetime import datetime

from keystoneauth1 import adapter, session, token_endpoint
import pytest
import requests_mock

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.reconcile.instances import (
    FAILURES, FEW, InstanceView, MoveView, NovaInstances)

NOVA = 'http://nova.example.org/v2.1'


@pytest.fixture
def nova():
    with requests_mock.Mocker() as mocker:
        yield mocker


@pytest.fixture
def instances():
    return NovaInstances(adapter.Adapter(
        session.Session(auth=token_endpoint.Token(NOVA, 'token')),
        service_type='compute'))


def server(uuid, host='cmp-1', status='ACTIVE'):
    return {'id': uuid, 'status': status, 'OS-EXT-SRV-ATTR:host': host,
            'OS-EXT-SRV-ATTR:hypervisor_hostname': host and f'{host}.local'}


def test_a_server_is_read_with_its_host(nova, instances):
    nova.get(f'{NOVA}/servers/1', json={'server': server('1')})
    assert instances.get('1') == InstanceView(
        '1', 'cmp-1', 'ACTIVE', 'cmp-1.local')


def test_a_server_without_a_host_is_read(nova, instances):
    nova.get(f'{NOVA}/servers/1', json={'server': server('1', None, 'ERROR')})
    assert instances.get('1') == InstanceView('1', None, 'ERROR')


def test_a_deleted_server_is_none(nova, instances):
    nova.get(f'{NOVA}/servers/1', status_code=404)
    assert instances.get('1') is None


def test_an_unavailable_nova_raises_service_failed(nova, instances):
    nova.get(f'{NOVA}/servers/1', status_code=503)
    with pytest.raises(ServiceFailed):
        instances.get('1')


def test_an_answer_without_the_host_is_refused(nova, instances):
    nova.get(f'{NOVA}/servers/1',
             json={'server': {'id': '1', 'status': 'ACTIVE'}})
    with pytest.raises(ServiceFailed, match='OS-EXT-SRV-ATTR:host'):
        instances.get('1')


def test_many_servers_are_read_from_the_list_of_their_project(nova, instances):
    uuids = [str(number) for number in range(FEW + 2)]
    listed = [server(uuid) for uuid in uuids[:-2]]
    nova.get(f'{NOVA}/servers/detail', [
        {'json': {'servers': [*listed, server('other-server')]}},
        {'json': {'servers': []}}])
    # One server is missing in the list, and one is deleted.
    nova.get(f'{NOVA}/servers/{uuids[-2]}',
             json={'server': server(uuids[-2])})
    nova.get(f'{NOVA}/servers/{uuids[-1]}', status_code=404)
    found = instances.find(uuids, 'blue')
    assert found.keys() == set(uuids)
    assert [uuid for uuid in uuids if found[uuid] is None] == uuids[-1:]
    listing = nova.request_history[0].qs
    assert (listing['all_tenants'], listing['project_id']) == (
        ['1'], ['blue'])
    assert len(nova.request_history) == 4


def test_changed_and_deleted_servers_are_listed(nova, instances):
    nova.get(f'{NOVA}/servers/detail', [
        {'json': {'servers': [server('1'), server('2', status='DELETED')]}},
        {'json': {'servers': []}}])
    changed = instances.changed(datetime(2030, 1, 1, 12))
    assert [view.status for view in changed] == ['ACTIVE', 'DELETED']
    listing = nova.request_history[0].qs
    assert (listing['all_tenants'], listing['changes-since']) == (
        ['1'], ['2030-01-01t12:00:00z'])


def test_reading_servers_stops_after_a_few_failures(nova, instances):
    nova.get(requests_mock.ANY, status_code=503)
    assert instances.find([str(n) for n in range(FEW)], 'blue') == {}
    assert len(nova.request_history) == FAILURES
    with pytest.raises(ServiceFailed):
        instances.find([str(n) for n in range(FEW + 1)], 'blue')


def test_the_fault_of_a_server_in_error_is_read(nova, instances):
    nova.get(f'{NOVA}/servers/1', json={'server': {
        **server('1', None, 'ERROR'), 'fault': {'message': 'no valid host'}}})
    assert instances.get('1').fault


@pytest.mark.parametrize('listed', [True, False])
def test_nova_reports_a_deleted_server(nova, instances, listed):
    nova.get(f'{NOVA}/servers/detail', json={
        'servers': [server('1', status='DELETED')] if listed else []})
    assert instances.was_deleted('1') == listed
    (request,) = nova.request_history
    assert {name: values[0] for name, values in request.qs.items()} == {
        'all_tenants': '1', 'deleted': 'true', 'uuid': '1'}


def test_an_unavailable_nova_reports_no_deleted_server(nova, instances):
    nova.get(f'{NOVA}/servers/detail', status_code=503)
    with pytest.raises(ServiceFailed):
        instances.was_deleted('1')


@pytest.mark.parametrize('actions, progress', [
    ([], None),
    ([('2030-01-01T12:00:00.000000', None)], datetime(2030, 1, 1, 12)),
    ([('2030-01-01T12:00:00.000000', '2030-01-01T12:05:00.000000'),
      ('2030-01-01T12:01:00.000000', None)], datetime(2030, 1, 1, 12, 5)),
])
def test_progress_is_when_the_latest_action_was_updated(
        nova, instances, actions, progress):
    nova.get(f'{NOVA}/servers/1/os-instance-actions', json={
        'instanceActions': [{'start_time': start, 'updated_at': updated}
                            for start, updated in actions]})
    assert instances.progressed_at('1') == progress
    assert nova.request_history[0].headers[
        'OpenStack-API-Version'] == 'compute 2.58'


def test_actions_of_an_ordinary_shape_only(nova, instances):
    nova.get(f'{NOVA}/servers/1/os-instance-actions',
             json={'instanceActions': [{'start_time': 'noon'}]})
    with pytest.raises(ServiceFailed, match='os-instance-actions'):
        instances.progressed_at('1')


def migration(number, status, destination='cmp-2', server='1'):
    return {'id': number, 'status': status, 'instance_uuid': server,
            'source_compute': 'cmp-1', 'dest_compute': destination,
            'dest_node': destination and f'{destination}.local'}


@pytest.mark.parametrize('listed, destination', [
    ([], None),
    ([migration(1, 'running')], 'cmp-2'),
    ([migration(1, 'finished', 'cmp-3'), migration(2, 'reverted')], 'cmp-3'),
    ([migration(2, 'migrating'), migration(1, 'running', 'cmp-3')], 'cmp-2'),
    ([migration(1, 'confirmed'), migration(2, 'error')], None),
    ([migration(1, 'accepted', None)], None),
    ([migration(1, 'running', server='2')], None)])
def test_a_move_that_has_not_ended_is_read(
        nova, instances, listed, destination):
    nova.get(f'{NOVA}/os-migrations?instance_uuid=1',
             json={'migrations': listed})
    assert instances.move('1') == (destination and MoveView(
        'cmp-1', destination, f'{destination}.local'))


def test_a_live_migration_always_uses_the_scheduler(nova, instances):
    nova.post(f'{NOVA}/servers/1/action', status_code=202)
    instances.live_migrate('1', 'cmp-2')
    asked = nova.last_request
    assert asked.json() == {'os-migrateLive': {
        'host': 'cmp-2', 'block_migration': 'auto'}}
    assert asked.headers['OpenStack-API-Version'] == 'compute 2.68'


def test_a_refused_live_migration_is_an_error(nova, instances):
    nova.post(f'{NOVA}/servers/1/action', status_code=409, text='locked')
    with pytest.raises(ServiceFailed, match='409: locked'):
        instances.live_migrate('1', 'cmp-2')
