# SPDX-License-Identifier: Apache-2.0
"""Groups with PCI devices, pinned processors and virtual GPUs, on Nova's
libvirt driver with the fake libvirt of Nova's own tests."""

from collections import Counter
import json

from nova import context as nova_context
from nova import objects
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.fake_libvirt import (
    FILTERS, LibvirtHypervisors, pci_devices, provider_name)
from tests.functional.fake_ports import create_provider
from tests.functional.placement_audit import audit, resources

HOSTS = tuple(EmbeddedHost(name, rack=rack) for name, rack in (
    ('gpu-1', 'r1'), ('gpu-2', 'r1'), ('gpu-3', 'r2')))
ALIASES = [json.dumps(each) for each in (
    {'name': 'gpu', 'vendor_id': '8086', 'product_id': '1533'},)]
GPU = 'CUSTOM_PCI_8086_1533'
OPTIONS = {
    ('pci', 'report_in_placement'): True,
    ('pci', 'device_spec'): [
        json.dumps({'vendor_id': '8086', 'product_id': '1533'})],
    ('pci', 'alias'): ALIASES,
    ('filter_scheduler', 'pci_in_placement'): True,
    ('filter_scheduler', 'enabled_filters'): FILTERS,
    ('inventory', 'pci_alias'): ALIASES,
    # Four processors of the first NUMA node, two of the second one.
    ('compute', 'cpu_dedicated_set'): '0-5',
    ('compute', 'cpu_shared_set'): '6-7',
    ('devices', 'enabled_mdev_types'): ['nvidia-11'],
    ('holistic', 'search_time_limit'): 0,
}
FLAVORS = {
    'eight': (1, {'pci_passthrough:alias': 'gpu:8'}),
    'four': (1, {'pci_passthrough:alias': 'gpu:4'}),
    'pinned': (2, {'hw:cpu_policy': 'dedicated'}),
    'vgpu': (1, {'resources:VGPU': '1'}),
}


@pytest.fixture(scope='module')
def running(own_cloud):
    machine = pci_devices(num_pci=8, num_mdevcap=1)
    with own_cloud((), options=OPTIONS) as cloud:
        cloud.libvirt = cloud.computes.useFixture(LibvirtHypervisors(
            {host.name: machine for host in HOSTS}))
        cloud.add_hosts(HOSTS)
        for name, (vcpus, specs) in FLAVORS.items():
            cloud.create_flavor(name, vcpus, 512, 1, specs)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()


def created(cloud, flavor, count, *policies):
    return cloud.planner.create({
        'name': 'devices', 'policies': list(policies), 'members': [
            {'name': 'node', 'flavor': flavor, 'count': count}]},
        project_id=PROJECT, user_id=USER)


def boot(cloud, group, flavor):
    """Create all servers of a group; returns their UUIDs by path. Asserts that
    each server is active on its planned host with the allocations of its
    hold."""
    servers = {}
    for row in cloud.table.members(group):
        held = cloud.holds.exists(row.hold)
        path = row.member.path
        server = cloud.create_server(
            path, flavor, {'group': group, 'member': path})
        cloud.wait_for_status(server, 'ACTIVE')
        now = cloud.row(group, path)
        assert (now.state, now.instance_uuid) == (MemberState.CLAIMED, server)
        assert cloud.host_of(server) == row.place.host
        assert resources(cloud, server) == {
            provider: each['resources']
            for provider, each in held['allocations'].items()}
        assert cloud.holds.exists(row.hold) is None
        servers[path] = server
    return servers


def providers(cloud):
    """Names of all providers, by UUID."""
    listed = cloud.placement.get('/resource_providers', microversion='1.14')
    return {each['uuid']: each['name']
            for each in listed.json()['resource_providers']}


def allocated(cloud, server, resource_class):
    """Names of the providers that give a server some of the class."""
    names = providers(cloud)
    return {names[provider] for provider, amounts
            in resources(cloud, server).items() if resource_class in amounts}


def in_cell(cloud, read, *arguments):
    admin = nova_context.get_admin_context()
    with nova_context.target_cell(admin, cloud.computes.cell) as target:
        return read(target, *arguments)


@pytest.mark.parametrize('flavor, count, hosts', [
    ('eight', 2, {'gpu-1': 1, 'gpu-2': 1}),
    ('four', 4, {'gpu-1': 2, 'gpu-2': 2})])
def test_servers_have_the_pci_devices_that_were_held(
        cloud, flavor, count, hosts):
    """The group uses all sixteen GPUs of the only rack with two hosts."""
    record = created(cloud, flavor, count,
                     {'type': 'affinity', 'level': 'rack'})
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    servers = boot(cloud, record.uuid, flavor)
    assert Counter(map(cloud.host_of, servers.values())) == hosts
    addresses = []
    for server in servers.values():
        host = cloud.host_of(server)
        devices = in_cell(
            cloud, objects.PciDeviceList.get_by_instance_uuid, server)
        assert allocated(cloud, server, GPU) == {
            provider_name(host, each.address) for each in devices}
        assert len(devices) == 16 // count
        (request,) = in_cell(
            cloud, objects.InstancePCIRequests.get_by_instance_uuid,
            server).requests
        names = providers(cloud)
        assert {names[each] for each in request.spec[0][
            'rp_uuids'].split(',')} == allocated(cloud, server, GPU)
        addresses += [(host, each.address) for each in devices]
    assert len(set(addresses)) == 16
    audit(cloud, servers.values())


def test_one_device_more_than_a_rack_has_is_unplaceable(cloud):
    """Devices of another service than Nova do not count."""
    foreign = create_provider(
        cloud, 'foreign', cloud.providers()['gpu-1'], {GPU: 4}, [])
    try:
        record = created(cloud, 'four', 5, {
            'type': 'affinity', 'level': 'rack'})
        assert record.status == GroupStatus.UNPLACEABLE
        assert GPU in record.reasons[0]['message']
        audit(cloud, ())
    finally:
        cloud.placement.delete(f'/resource_providers/{foreign}')


def test_pinned_servers_have_the_processors_that_were_held(cloud):
    record = created(cloud, 'pinned', 9)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    servers = boot(cloud, record.uuid, 'pinned')
    pinned = []
    for server in servers.values():
        topology = in_cell(
            cloud, objects.InstanceNUMATopology.get_by_instance_uuid, server)
        (cell,) = topology.cells
        host = cloud.host_of(server)
        assert allocated(cloud, server, 'PCPU') == {host}
        pinned += [(host, each) for each in cell.cpu_pinning.values()]
    # Each of the six processors of the three hosts has one server.
    assert len(pinned) == len(set(pinned)) == 18
    audit(cloud, servers.values())


def test_servers_have_their_virtual_gpu_where_it_was_held(cloud):
    record = created(cloud, 'vgpu', 3, {
        'type': 'anti-affinity', 'level': 'host'})
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    servers = boot(cloud, record.uuid, 'vgpu')
    devices = dict(cloud.libvirt.mdevs)
    assert len(devices) == len(cloud.libvirt.mdevs) == 3
    for server in servers.values():
        host = cloud.host_of(server)
        assert allocated(cloud, server, 'VGPU') == {
            f'{host}_{devices[host]}'}
    audit(cloud, servers.values())
