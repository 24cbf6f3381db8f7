# SPDX-License-Identifier: Apache-2.0
"""The embedded cloud is a Nova and a Placement like any other."""

import threading
import time
from types import SimpleNamespace
from uuid import uuid4

from keystoneauth1 import exceptions as keystone_exceptions
import pytest

from nova_holistic.embedded.calls.servers import ADMIN
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError, wait_for

HOSTS = (
    EmbeddedHost('cmp-1', zone='az1', rack='r1', traits=('CUSTOM_GREEN',)),
    EmbeddedHost('cmp-2', zone='az1', rack='r2',
                 load={'VCPU': 6, 'MEMORY_MB': 1024}),
    EmbeddedHost('cmp-3', zone='az2', rack='r1', vcpus=4),
)
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
NOTHING = {'VCPU': 0, 'MEMORY_MB': 0, 'DISK_GB': 0}


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    with lend_cloud(HOSTS, scheduler='stock') as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.create_flavor('large', 4, 4096, 10)
        yield cloud


@pytest.fixture
def server(cloud):
    """An ACTIVE server, which is deleted after the test."""
    created = cloud.create_server('one', 'small')
    cloud.wait_for_status(created, 'ACTIVE')
    yield created
    cloud.delete_server(created)


def test_a_server_becomes_active_and_uses_its_flavor(cloud, server):
    host = cloud.host_of(server)
    assert cloud.allocations(server) == {
        cloud.providers()[host]: {
            'resources': SMALL,
            'generation': cloud.allocations(server)[
                cloud.providers()[host]]['generation']}}


def test_a_deleted_server_uses_nothing(cloud):
    before = cloud.usages()
    server = cloud.create_server('brief', 'small')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.usages() != before
    cloud.delete_server(server)
    assert cloud.usages() == before
    assert cloud.allocations(server) == {}


def test_nova_is_busy_with_a_server_until_it_is_built(cloud, monkeypatch):
    go_on = threading.Event()
    for service in cloud.computes.services.values():
        monkeypatch.setattr(
            service.manager.driver, 'spawn',
            waits(go_on, service.manager.driver.spawn))
    server = cloud.create_server('slow', 'small')
    assert cloud.progress.is_busy(server)
    wait_for(lambda: cloud.get_server(server)['OS-EXT-STS:task_state']
             == 'spawning' or None, 'the build')
    assert cloud.progress.is_busy(server)
    go_on.set()
    cloud.wait_for_status(server, 'ACTIVE')
    assert not cloud.progress.is_busy(server)
    cloud.delete_server(server)
    assert not cloud.progress.is_busy(server)


def waits(event, function):
    def wait_and_call(*args, **kwargs):
        assert event.wait(600)
        return function(*args, **kwargs)
    return wait_and_call


def test_existing_load_is_in_placement(cloud):
    assert cloud.usages()['cmp-2'] == {
        'VCPU': 6, 'MEMORY_MB': 1024, 'DISK_GB': 0}
    assert cloud.usages()['cmp-3'] == NOTHING
    assert list(cloud.consumers('cmp-2').values()) == [
        {'VCPU': 6, 'MEMORY_MB': 1024}]


def test_rows_of_placement_equal_the_answers_of_its_api(cloud, server):
    def answer(path, key):
        return cloud.placement.get(path).json()[key]

    providers = {each['name']: each['uuid'] for each in answer(
        '/resource_providers', 'resource_providers')}
    assert cloud.providers() == providers
    for name, uuid in providers.items():
        path = f'/resource_providers/{uuid}'
        assert cloud.usages()[name] == answer(f'{path}/usages', 'usages')
        assert cloud.consumers(name) == {
            consumer: each['resources'] for consumer, each in answer(
                f'{path}/allocations', 'allocations').items()}
    assert cloud.allocations(server) == answer(
        f'/allocations/{server}', 'allocations')
    nobody = str(uuid4())
    assert cloud.allocations(nobody) == answer(
        f'/allocations/{nobody}', 'allocations') == {}


def test_hosts_have_the_size_they_were_given(cloud):
    provider = cloud.providers()['cmp-3']
    inventories = cloud.placement.get(
        f'/resource_providers/{provider}/inventories').json()['inventories']
    assert inventories['VCPU']['total'] == 4
    assert inventories['VCPU']['allocation_ratio'] == 1.0
    assert inventories['MEMORY_MB']['total'] == 65536
    assert inventories['MEMORY_MB']['reserved'] == 0


def test_zones_and_racks_are_host_aggregates(cloud):
    zones = cloud.compute.get(
        '/os-availability-zone').json()['availabilityZoneInfo']
    assert {zone['zoneName'] for zone in zones} == {'az1', 'az2'}
    racks = {aggregate['name']: (aggregate['metadata'], aggregate['hosts'])
             for aggregate in cloud.aggregates()
             if 'rack' in aggregate['metadata']}
    assert racks == {
        'az1-rack-r1': ({'rack': 'r1'}, ['cmp-1']),
        'az1-rack-r2': ({'rack': 'r2'}, ['cmp-2']),
        'az2-rack-r1': ({'rack': 'r1'}, ['cmp-3'])}


def test_traits_outlive_the_periodic_report_of_the_compute(cloud):
    provider = cloud.providers()['cmp-1']
    cloud.run_periodics()
    traits = cloud.placement.get(
        f'/resource_providers/{provider}/traits').json()['traits']
    assert 'CUSTOM_GREEN' in traits


def test_a_stopped_compute_does_not_report(cloud, monkeypatch):
    reported = []
    for name, service in cloud.computes.services.items():
        monkeypatch.setattr(
            service.manager, 'update_available_resource',
            lambda _context, name=name: reported.append(name))
    cloud.stop_compute('cmp-2')
    try:
        cloud.run_periodics()
    finally:
        cloud.start_compute('cmp-2')
    assert sorted(reported) == ['cmp-1', 'cmp-3']


def test_a_server_goes_to_its_zone(cloud):
    server = cloud.create_server('two', 'small', availability_zone='az2')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == 'cmp-3'
    cloud.delete_server(server)


def test_a_server_without_a_valid_host_reports_its_fault(cloud):
    server = cloud.create_server('vast', cloud.create_flavor(
        'vast', 64, 1024, 1))
    with pytest.raises(EmbeddedCloudError, match='No valid host'):
        cloud.wait_for_status(server, 'ACTIVE')
    cloud.delete_server(server)


def test_a_foreign_consumer_takes_and_frees_capacity(cloud):
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 4})
    server = cloud.create_server('late', 'small', availability_zone='az2')
    with pytest.raises(EmbeddedCloudError, match='No valid host'):
        cloud.wait_for_status(server, 'ACTIVE')
    cloud.delete_server(server)
    cloud.delete_consumer(consumer)
    assert cloud.usages()['cmp-3'] == NOTHING


def test_projects_do_not_see_each_others_servers(cloud, server):
    other_server = cloud.compute_for('other-project')
    with pytest.raises(keystone_exceptions.NotFound):
        other_server.get(f'/servers/{server}')
    assert other_server.get('/servers').json()['servers'] == []
    owner = cloud.compute_for('demo')
    assert owner.get(f'/servers/{server}').json()['server']['name'] == 'one'


def test_an_ordinary_project_may_not_migrate(cloud, server):
    with pytest.raises(keystone_exceptions.Forbidden):
        cloud.compute_for('demo').post(
            f'/servers/{server}/action', json={'migrate': None})


def test_a_server_can_be_migrated_resized_and_shelved(cloud, server):
    start = cloud.host_of(server)
    assert cloud.migrate(server) != start
    assert cloud.resize(server, 'large')
    assert cloud.get_server(server)['flavor']['vcpus'] == 4
    before = cloud.host_of(server)
    assert cloud.live_migrate(server) != before
    cloud.shelve(server)
    assert cloud.host_of(server) is None
    assert cloud.allocations(server) == {}
    assert cloud.unshelve(server) == cloud.host_of(server)


def test_servers_are_evacuated_from_a_stopped_compute(cloud, server):
    lost = cloud.host_of(server)
    cloud.stop_compute(lost)
    assert cloud.compute_service(lost)['state'] == 'down'
    assert cloud.evacuate(server) != lost
    cloud.start_compute(lost)
    assert cloud.compute_service(lost)['state'] == 'up'
    assert cloud.providers()[lost] not in cloud.allocations(server)


def test_a_disabled_compute_gets_no_server(cloud):
    cloud.disable_compute('cmp-3')
    server = cloud.create_server(
        'shut-out', 'small', host='cmp-3', user=ADMIN)
    with pytest.raises(EmbeddedCloudError, match='No valid host'):
        cloud.wait_for_status(server, 'ACTIVE')
    cloud.delete_server(server)
    cloud.enable_compute('cmp-3')


def test_occupy_creates_real_servers(cloud):
    flavor = cloud.create_flavor('load', 1, 512, 1)
    servers = cloud.occupy('cmp-1', flavor, count=2)
    assert {cloud.host_of(server) for server in servers} == {'cmp-1'}
    for server in servers:
        cloud.delete_server(server)


def test_a_removed_host_is_gone_and_may_be_added_again(cloud):
    before = cloud.aggregates()
    for vcpus in (2, 8):
        added = EmbeddedHost('cmp-4', zone='az2', rack='r1', vcpus=vcpus,
                             load={'VCPU': 1})
        cloud.add_hosts([added])
        provider = cloud.providers()['cmp-4']
        assert cloud.placement.get(
            f'/resource_providers/{provider}/inventories',
        ).json()['inventories']['VCPU']['total'] == vcpus
        assert cloud.usages()['cmp-4']['VCPU'] == 1
        server = cloud.create_server(
            'there', 'small', host='cmp-4', user=ADMIN)
        if vcpus == 8:
            cloud.wait_for_status(server, 'ACTIVE')
        else:
            assert 'No valid host' in cloud.fault_of(server)
        cloud.delete_server(server)
        cloud.remove_hosts(['cmp-4'])
        assert set(cloud.providers()) == {host.name for host in HOSTS}
        assert cloud.hosts == HOSTS
        found = {aggregate['name']: aggregate['hosts']
                 for aggregate in cloud.aggregates()}
        assert found == {aggregate['name']: aggregate['hosts']
                         for aggregate in before}


def test_a_cloud_keeps_its_databases_for_hours(cloud, server, monkeypatch):
    """A database in memory exists as long as its only connection, which
    oslo.db would replace after an hour."""
    monkeypatch.setattr('sqlalchemy.pool.base.time', SimpleNamespace(
        time=lambda: time.time() + 86_400, perf_counter=time.perf_counter,
        monotonic=time.monotonic))
    assert cloud.get_server(server)['status'] == 'ACTIVE'
    assert cloud.consumers(cloud.host_of(server))[server] == SMALL
