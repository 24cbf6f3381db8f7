# SPDX-License-Identifier: Apache-2.0
"""A snapshot shows what a real Nova and a real Placement know."""

import uuid

from nova import context as nova_context
from nova import objects as nova_objects
from nova.scheduler import request_filter
from nova.scheduler import utils as scheduler_utils
import pytest

from nova_holistic.embedded.calls.servers import ADMIN
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.nova.flavors import flavor_from_nova
from nova_holistic.inventory.nova.hypervisors import (
    read_hypervisors, read_page)
from nova_holistic.inventory.placement import PlacementInventory
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.topology.aggregates import AggregatesTopology
from tests.functional.watched_inventory import Watch

HOSTS = (
    EmbeddedHost('cmp-1', zone='az1', rack='r1', traits=('CUSTOM_GREEN',),
                 cpu_allocation_ratio=4.0, reserved_memory_mb=512,
                 labels={'power_feed': 'A'}),
    EmbeddedHost('cmp-2', zone='az1', rack='r2',
                 load={'VCPU': 6, 'MEMORY_MB': 1024}),
    EmbeddedHost('cmp-3', zone='az2', rack='r1', vcpus=4),
    EmbeddedHost('cmp-4'),
)


@pytest.fixture(scope='module')
def cloud(lend_cloud):
    with lend_cloud(HOSTS, scheduler='stock') as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def watch(cloud):
    return Watch(cloud)


def test_every_compute_is_a_host_with_its_provider(cloud, watch):
    hosts = watch.hosts()
    assert {name: host.uuid for name, host in hosts.items()
            } == cloud.providers()
    assert all(host.node == name and host.enabled
               for name, host in hosts.items())


def test_capacity_counts_ratio_and_reserve(watch):
    inventories = watch.hosts()['cmp-1'].inventories
    assert inventories['VCPU'].capacity == 16 * 4
    assert inventories['VCPU'].max_unit == 16
    assert inventories['MEMORY_MB'].capacity == 65536 - 512
    assert inventories['DISK_GB'].capacity == 1000


def test_allocations_of_other_consumers_count_as_used(watch):
    hosts = watch.hosts()
    assert hosts['cmp-2'].inventories['VCPU'].free == 10
    assert hosts['cmp-2'].inventories['MEMORY_MB'].used == 1024
    assert hosts['cmp-2'].servers == 1
    assert hosts['cmp-3'].inventories['VCPU'].free == 4
    assert hosts['cmp-3'].servers == 0


def test_traits_are_those_of_the_provider(watch):
    hosts = watch.hosts()
    assert 'CUSTOM_GREEN' in hosts['cmp-1'].traits
    assert 'CUSTOM_GREEN' not in hosts['cmp-2'].traits


def test_hosts_have_their_zone_rack_labels_and_aggregates(cloud, watch):
    hosts = watch.hosts()
    assert [hosts[name].location for name in sorted(hosts)] == [
        ('az1', 'r1'), ('az1', 'r2'), ('az2', 'r1'), ('nova',)]
    assert [hosts[name].availability_zone for name in sorted(hosts)] == [
        'az1', 'az1', 'az2', 'nova']
    assert hosts['cmp-1'].labels == {'power_feed': 'A'}
    uuids = {aggregate['name']: aggregate['uuid']
             for aggregate in cloud.aggregates()}
    assert hosts['cmp-3'].aggregates == {
        'az2', uuids['az2'], 'az2-rack-r1', uuids['az2-rack-r1']}
    assert hosts['cmp-4'].aggregates == frozenset()


def test_a_host_in_two_racks_is_in_none_and_an_error_names_both(
        cloud, watch, caplog):
    aggregate = cloud.create_aggregate('wrong', {'rack': 'r9'}, ['cmp-1'])
    try:
        hosts = watch.hosts()
    finally:
        cloud.act_on_aggregate(aggregate, 'remove_host', host='cmp-1')
    assert hosts['cmp-1'].location == ('az1',)
    assert hosts['cmp-2'].location == ('az1', 'r2')
    assert "aggregate az1-rack-r1 says 'r1', aggregate wrong says 'r9'" in (
        caplog.text)
    assert watch.hosts()['cmp-1'].location == ('az1', 'r1')


def test_a_disabled_compute_is_not_enabled(cloud, watch):
    cloud.disable_compute('cmp-3')
    assert not watch.hosts()['cmp-3'].enabled
    cloud.enable_compute('cmp-3')
    assert watch.hosts()['cmp-3'].enabled


def test_a_compute_that_is_forced_down_is_not_enabled(cloud, watch):
    service = cloud.compute_service('cmp-3')
    url = f'/os-services/{service["id"]}'
    cloud.compute.put(url, json={'forced_down': True})
    hosts = watch.hosts()
    assert not hosts['cmp-3'].enabled
    assert hosts['cmp-2'].enabled
    cloud.compute.put(url, json={'forced_down': False})
    assert watch.hosts()['cmp-3'].enabled


@pytest.mark.parametrize(('sizes', 'extra_specs'), [
    ({}, {}),
    ({'swap': 1}, {}),
    ({'swap': 1024, 'OS-FLV-EXT-DATA:ephemeral': 3}, {}),
    ({'swap': 1025, 'disk': 0}, {}),
    ({'disk': 0}, {}),
    ({}, {'resources:VCPU': '1'}),
    ({'swap': 512}, {'resources:DISK_GB': '7'}),
    ({}, {'resources:DISK_GB': '0', 'resources:MEMORY_MB': '64'}),
    ({}, {'trait:CUSTOM_GREEN': 'required'}),
])
def test_the_allocation_of_a_server_matches_its_flavor(
        cloud, watch, sizes, extra_specs):
    body = {'name': 'sized', 'vcpus': 2, 'ram': 512, 'disk': 5} | sizes
    made = cloud.compute.post('/flavors', json={'flavor': body}).json()
    flavor_id = made['flavor']['id']
    if extra_specs:
        cloud.compute.post(f'/flavors/{flavor_id}/os-extra_specs',
                           json={'extra_specs': extra_specs})
    try:
        # Only an administrator may boot an image without a root disk.
        server = cloud.create_server('sized', 'sized', user=ADMIN)
        cloud.wait_for_status(server, 'ACTIVE')
        (allocation,) = cloud.allocations(server).values()
        cloud.delete_server(server)
        flavors = watch.snapshot().flavors
    finally:
        cloud.compute.delete(f'/flavors/{flavor_id}')
    assert flavors['sized'].resources == allocation['resources']
    assert flavors[flavor_id] is flavors['sized']


@pytest.mark.parametrize('specs', [
    {'hw:cpu_policy': 'dedicated'},
    {'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'},
    {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'require'},
    {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'isolate'},
    {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0'},
    {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '^0',
     'hw:emulator_threads_policy': 'isolate'},
    {'resources:PCPU': '3'},
    {'resources:VCPU': '0', 'resources:CUSTOM_METAL': '1'},
    {'resources:VCPU': 'x', 'resources:no_class': '1'},
    {'resources:UNKNOWN': '1', 'resources1:UNKNOWN': '1'},
    {'resources1:VCPU': '2'}, {'resources1:PCPU': '0'},
    {'resources_a:MEMORY_MB': '512', 'resources_a:DISK_GB': '5'},
    {'trait:CUSTOM_A': 'required', 'trait:CUSTOM_B': 'forbidden',
     'trait:CUSTOM_C': 'maybe'},
    {'hw:tpm_version': '1.2'},
    {'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'},
    {'os:secure_boot': 'required'},
    {'os:secure_boot': 'optional'},
    {'hw:maxphysaddr_mode': 'emulate'},
    {'hw:maxphysaddr_mode': 'passthrough'},
    {'hw:virtio_packed_ring': 'true'},
    {'hw:virtio_packed_ring': 'false'},
    {'hw:ephemeral_encryption': 'true'},
    {'hw:sound_model': 'virtio'},
    {'group_policy': 'none', 'quota:cpu_shares': '5'},
])
def test_extra_specs_are_read_as_novas_scheduler_does(cloud, specs):
    nova_flavor = nova_objects.Flavor(
        id=1, flavorid='1', name='f', vcpus=2, memory_mb=512, root_gb=5,
        ephemeral_gb=0, swap=0, extra_specs=specs)
    spec = nova_objects.RequestSpec(
        flavor=nova_flavor, image=nova_objects.ImageMeta(
            properties=nova_objects.ImageMetaProps()), is_bfv=False)
    for request in (request_filter.packed_virtqueue_filter,
                    request_filter.ephemeral_encryption_filter,
                    request_filter.virtio_sound_filter):
        request(nova_context.get_admin_context(), spec)
    group = scheduler_utils.ResourceRequest.from_request_spec(
        spec).get_request_group(None)

    converted = flavor_from_nova({
        'id': '1', 'name': 'f', 'vcpus': 2, 'ram': 512, 'disk': 5,
        'OS-FLV-EXT-DATA:ephemeral': 0, 'swap': 0, 'extra_specs': specs})

    assert converted.unplannable == ''
    assert converted.resources == group.resources
    assert converted.required_traits == (
        group.required_traits | spec.root_required)
    assert converted.forbidden_traits == group.forbidden_traits


def test_private_flavors_are_known(cloud, watch):
    made = cloud.compute.post('/flavors', json={'flavor': {
        'name': 'secret', 'vcpus': 1, 'ram': 64, 'disk': 1,
        'os-flavor-access:is_public': False}}).json()['flavor']
    assert watch.snapshot().flavors['secret'].id == made['id']
    cloud.compute.delete(f'/flavors/{made["id"]}')


def test_long_lists_are_read_page_by_page(cloud, watch):
    whole = watch.snapshot()
    cloud.conf.set_override('max_limit', 2, 'api')
    try:
        another = Watch(cloud)
        assert another.snapshot() == whole
        assert another.requests['os-hypervisors/detail'] == 3
    finally:
        cloud.conf.clear_override('max_limit', 'api')


def test_hypervisors_are_read_in_pages_that_begin_anywhere(cloud):
    nova = ServiceClient('nova', cloud.compute)
    whole = read_hypervisors(nova)
    uuids = list(whole)
    assert len(uuids) > 2
    first, rest = read_page(nova, 2), read_page(nova, 100, uuids[1])
    assert (list(first), list(rest)) == (uuids[:2], uuids[2:])
    assert {**first, **rest} == whole
    assert not read_page(nova, 100, uuids[-1])
    with pytest.raises(ServiceFailed, match='marker'):
        read_page(nova, 100, str(uuid.uuid4()))


def test_an_error_of_the_wrong_service_names_the_request(cloud):
    inventory = PlacementInventory(
        cloud.compute, cloud.compute, AggregatesTopology(['az', 'host']))
    with pytest.raises(
            ServiceFailed, match='placement: GET /resource_providers'):
        inventory.snapshot()
