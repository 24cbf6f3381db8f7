# SPDX-License-Identifier: Apache-2.0
"""A second snapshot reads exactly the changes."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from nova_holistic.embedded.host import EmbeddedHost
from tests.functional.call_counts import wait_until_quiet
from tests.functional.watched_inventory import Watch
from tests.statements import recorded

HOSTS = (
    EmbeddedHost('cmp-1', zone='az1', rack='r1'),
    EmbeddedHost('cmp-2', zone='az1', rack='r2',
                 load={'VCPU': 6, 'MEMORY_MB': 1024}),
    EmbeddedHost('cmp-3', zone='az2', rack='r1', vcpus=4),
    EmbeddedHost('cmp-4'),
)
DISK_ARRAY = '7b1c3c7e-5d0a-4f1e-9a39-0d6d8c0a3f11'
LISTS = {'os-services': 1, 'flavors/detail': 1, 'os-aggregates': 1,
         'resource_providers': 1, 'allocation_candidates': 1}
"""Requests of every snapshot of a cloud of no more than a thousand hosts."""


@pytest.fixture(scope='module')
def cloud(own_cloud):
    with own_cloud(HOSTS, scheduler='stock') as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def watch(cloud):
    return Watch(cloud)


def test_the_second_snapshot_reads_no_provider(cloud, watch):
    first = watch.snapshot()
    assert watch.requests['one/inventories'] == len(HOSTS)
    # Only one of them has consumers.
    assert watch.reread == 1
    assert watch.snapshot() == first
    assert watch.reread == 0
    assert watch.requests == LISTS


def test_hosts_that_did_not_change_are_the_same_objects(cloud, watch):
    first = watch.hosts()
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 1})
    second = watch.hosts()
    assert {name for name in first if second[name] is not first[name]} == {
        'cmp-3'}
    cloud.delete_consumer(consumer)


def test_derived_data_are_renewed_from_snapshot_to_snapshot(cloud, watch):
    def free(snapshot):
        return {h.name: h.inventories['VCPU'].free for h in snapshot.hosts}

    def renewed(known, snapshot):
        return known, free(snapshot)

    before = watch.snapshot().once_for_lineage('free', free, renewed)
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 1})
    known, now = watch.snapshot().once_for_lineage('free', free, renewed)
    assert known is before
    assert {name: before[name] - now[name] for name in now} == {
        'cmp-1': 0, 'cmp-2': 0, 'cmp-3': 1, 'cmp-4': 0}
    cloud.delete_consumer(consumer)


def test_four_threads_read_the_same_snapshot_as_one(cloud, watch):
    several = Watch(cloud, threads=4)
    assert several.snapshot() == watch.snapshot()
    assert several.requests['one/inventories'] == len(HOSTS)


def test_concurrent_snapshots_are_equal(cloud, watch):
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: watch.hosts(), range(3)))
    assert found[0] == found[1] == found[2] == watch.hosts()
    assert watch.reread == 0


def test_only_providers_that_changed_are_read_again(cloud, watch):
    watch.snapshot()
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 1})
    assert watch.used('cmp-3') == {'VCPU': 1}
    assert watch.reread == 1
    cloud.delete_consumer(consumer)


def test_a_deletion_is_noticed_without_a_new_generation(cloud, watch):
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 1})
    assert watch.hosts()['cmp-3'].servers == 1
    before = generation(cloud, 'cmp-3')
    cloud.delete_consumer(consumer)
    assert generation(cloud, 'cmp-3') == before
    assert watch.hosts()['cmp-3'].servers == 0
    assert watch.reread == 1
    assert watch.used('cmp-3') == {}


def test_a_full_host_that_becomes_empty_is_noticed(cloud, watch):
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 4, 'DISK_GB': 9})
    assert watch.used('cmp-3') == {'VCPU': 4, 'DISK_GB': 9}
    watch.snapshot()
    assert watch.reread == 0
    cloud.delete_consumer(consumer)
    assert watch.used('cmp-3') == {}


def test_a_consumer_that_moves_is_seen_on_both_hosts(cloud, watch):
    consumer = cloud.add_consumer('cmp-3', {'VCPU': 1})
    watch.snapshot()
    allocation = cloud.placement.get(f'/allocations/{consumer}').json()
    cloud.placement.put(f'/allocations/{consumer}', json={
        'allocations': {cloud.providers()['cmp-4']: {
            'resources': {'VCPU': 1}}},
        'consumer_type': 'INSTANCE', 'project_id': allocation['project_id'],
        'user_id': allocation['user_id'],
        'consumer_generation': allocation['consumer_generation']})
    hosts = watch.hosts()
    assert hosts['cmp-3'].inventories['VCPU'].used == 0
    assert hosts['cmp-4'].inventories['VCPU'].used == 1
    assert watch.reread == 2
    cloud.delete_consumer(consumer)


def test_a_real_server_is_counted_until_it_is_deleted(cloud, watch):
    watch.snapshot()
    server = cloud.create_server('brief', 'small', availability_zone='az2')
    cloud.wait_for_status(server, 'ACTIVE')
    used = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
    assert watch.used('cmp-3') == used
    assert watch.hosts()['cmp-3'].servers == 1
    cloud.delete_server(server)
    assert watch.used('cmp-3') == {}


def test_new_traits_are_seen(cloud, watch):
    watch.snapshot()
    path = f'/resource_providers/{cloud.providers()["cmp-4"]}/traits'
    cloud.placement.put('/traits/CUSTOM_NEW')
    present = cloud.placement.get(path).json()
    cloud.placement.put(path, json=present | {
        'traits': [*present['traits'], 'CUSTOM_NEW']})
    assert 'CUSTOM_NEW' in watch.hosts()['cmp-4'].traits
    assert watch.reread == 1


@pytest.mark.parametrize('number', [0, 1, 10])
def test_requests_grow_with_changes_and_not_with_the_cloud(
        cloud, watch, number):
    known = len(watch.hosts())
    cloud.insert_hosts([
        EmbeddedHost(f'more-{number}-{n:02}', zone='az1') for n in range(20)])
    assert len(watch.hosts()) == known + 20
    consumers = [cloud.add_consumer(f'more-{number}-{n:02}', {'VCPU': 1})
                 for n in range(number)]
    watch.snapshot()
    asked = +watch.requests
    # A new allocation changes the generation of its provider. A deletion
    # leaves the generation unchanged.
    assert asked == LISTS | ({'one/allocations': number,
                              'one/inventories': number} if number else {})
    for consumer in consumers:
        cloud.delete_consumer(consumer)
    watch.snapshot()
    assert +watch.requests == LISTS | (
        {'one/allocations': number} if number else {})


def test_novas_statements_do_not_grow_with_the_cloud(cloud, watch):
    def statements(number):
        cloud.insert_hosts([
            EmbeddedHost(f'counted-{number}-{n:02}', zone='az1')
            for n in range(number)])
        first = counted(watch.snapshot)
        return first, counted(watch.snapshot)

    def counted(work):
        wait_until_quiet()
        with recorded() as recorder:
            work()
        return sum('compute_nodes' in each or 'services' in each
                   or 'host_mappings' in each for each in recorder.statements)

    watch.snapshot()
    few, many = statements(2), statements(12)
    # One statement reads the services of each of the two cells.
    assert few[1] == many[1] == 2
    # Each new host needs three further statements: for its compute node, its
    # host mapping and its service.
    assert (few[0] - 2, many[0] - 2) == (3 * 2, 3 * 12)


def test_a_host_of_a_deleted_service_is_gone_and_comes_back(cloud, watch):
    cloud.add_hosts([EmbeddedHost('cmp-8')])
    before = watch.hosts()
    cloud.remove_hosts(['cmp-8'])
    assert before.keys() - watch.hosts().keys() == {'cmp-8'}
    assert watch.requests['os-hypervisors/UUID'] == 1
    cloud.add_hosts([EmbeddedHost('cmp-8', vcpus=2)])
    after = watch.hosts()
    assert after.keys() == before.keys()
    assert after['cmp-8'].enabled
    assert after['cmp-8'].inventories['VCPU'].total == 2
    cloud.remove_hosts(['cmp-8'])
    watch.snapshot()
    watch.snapshot()
    assert +watch.requests == LISTS


def test_a_provider_without_a_compute_node_is_read_once(cloud, watch):
    watch.snapshot()
    cloud.placement.post('/resource_providers', json={
        'name': 'disk-array', 'uuid': DISK_ARRAY})
    found = []
    for _ in range(2):
        hosts = watch.hosts()
        found.append(watch.requests['os-hypervisors/UUID'])
    cloud.placement.delete(f'/resource_providers/{DISK_ARRAY}')
    assert found == [1, 0]
    assert DISK_ARRAY not in {host.uuid for host in hosts.values()}


def test_a_compute_without_a_provider_is_left_out(cloud, watch):
    known = set(watch.hosts())
    cloud.add_hosts([EmbeddedHost('cmp-9')])
    assert set(watch.hosts()) == {*known, 'cmp-9'}
    provider = cloud.providers()['cmp-9']
    cloud.placement.delete(f'/resource_providers/{provider}')
    assert set(watch.hosts()) == known


def generation(cloud, host):
    provider = cloud.providers()[host]
    return cloud.placement.get(
        f'/resource_providers/{provider}').json()['generation']
