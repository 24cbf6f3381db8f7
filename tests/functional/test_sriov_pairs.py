# SPDX-License-Identifier: Apache-2.0
"""Pairs of servers with SR-IOV ports on two switches, on Nova's libvirt driver
with the fake libvirt and the Neutron of Nova's own tests."""

import json

from nova import context as nova_context
from nova import objects
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus
from tests.functional.fake_libvirt import (
    FILTERS, LibvirtHypervisors, pci_devices)
from tests.functional.fake_ports import (
    BANDWIDTH, create_provider, PortsNeutron)
from tests.functional.placement_audit import audit, resources

HOSTS = tuple(EmbeddedHost(name, rack=rack) for name, rack in (
    ('net-1', 'r1'), ('net-2', 'r1'), ('net-3', 'r2'), ('net-4', 'r2')))
SWITCHES = ('red', 'blue')
DIRECT = 'CUSTOM_VNIC_TYPE_DIRECT'
# The functions of the first network card are on bus 81, slot 0.
OPTIONS = {
    ('pci', 'device_spec'): [json.dumps({
        'address': f'0000:81:0{slot}.*', 'physical_network': switch})
        for slot, switch in enumerate(SWITCHES)],
    ('filter_scheduler', 'enabled_filters'): FILTERS,
    ('holistic', 'search_time_limit'): 0,
}


def physnet(switch):
    return f'CUSTOM_PHYSNET_{switch.upper()}'


@pytest.fixture(scope='module')
def running(own_cloud):
    machine = pci_devices(num_pfs=2, num_vfs=4)
    with own_cloud((), options=OPTIONS) as cloud:
        libvirt = cloud.computes.useFixture(LibvirtHypervisors(
            {host.name: machine for host in HOSTS}))
        libvirt.name_interfaces(lambda address: f'ens{address[8:10]}')
        cloud.add_hosts(HOSTS)
        cloud.neutron = cloud.computes.useFixture(PortsNeutron())
        cloud.networks = {switch: cloud.neutron.add_network(switch, switch)
                          for switch in SWITCHES}
        cloud.cards = {}
        for host in HOSTS:
            agent = create_provider(
                cloud, f'{host.name}:NIC Switch agent',
                cloud.providers()[host.name], {}, [])
            for slot, switch in enumerate(SWITCHES):
                cloud.cards[host.name, switch] = create_provider(
                    cloud, f'{host.name}:NIC Switch agent:ens0{slot}', agent,
                    dict.fromkeys(BANDWIDTH, 2500),
                    [DIRECT, physnet(switch)])
        cloud.create_flavor('small', 1, 512, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()


def pair(number):
    """Two servers in different racks, each with a port on each switch."""
    return {
        'name': f'pair-{number}',
        'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
        'members': [{
            'name': 'node', 'flavor': 'small', 'count': 2,
            'request_groups': {switch: {
                'resources': dict.fromkeys(BANDWIDTH, 1000),
                'traits': {'required': [DIRECT, physnet(switch)]}}
                for switch in SWITCHES}}]}


def created(cloud, pairs):
    return cloud.planner.create({
        'name': 'pairs', 'groups': [pair(n) for n in range(pairs)]},
        project_id=PROJECT, user_id=USER)


def boot(cloud, row):
    """Create the server of a member; returns its UUID and its ports."""
    ports = {switch: cloud.neutron.add_port(
        cloud.networks[switch], 'direct',
        (dict.fromkeys(BANDWIDTH, 1000), [DIRECT, physnet(switch)]))
        for switch in SWITCHES}
    server = cloud.create_server(
        'node', 'small',
        {'group': row.group_uuid, 'member': row.member.path},
        networks=[{'port': port} for port in ports.values()])
    cloud.wait_for_status(server, 'ACTIVE')
    return server, ports


def devices(cloud, server):
    admin = nova_context.get_admin_context()
    with nova_context.target_cell(admin, cloud.computes.cell) as target:
        return objects.PciDeviceList.get_by_instance_uuid(target, server)


def test_each_server_has_a_device_of_each_switch_on_its_planned_host(cloud):
    """The four pairs use all network cards of the cloud. Each card has two
    functions, and bandwidth for two ports."""
    record = created(cloud, 4)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    rows = cloud.table.members(record.uuid)
    servers, used = [], set()
    for row in rows:
        held, host = resources(cloud, row.hold), row.place.host
        server, ports = boot(cloud, row)
        servers.append(server)
        assert cloud.host_of(server) == host
        assert resources(cloud, server) == held
        found = devices(cloud, server)
        assert {each.extra_info['parent_ifname'] for each in found} == {
            'ens00', 'ens01'}
        used |= {(host, each.address) for each in found}
        for switch, port in ports.items():
            card = cloud.cards[host, switch]
            assert held[card] == dict.fromkeys(BANDWIDTH, 1000)
            bound, profile = cloud.neutron.binding(port)
            assert (bound, profile['physical_network']) == (host, switch)
            assert list(profile['allocation'].values()) == [card]
    assert len(used) == 16
    racks = {}
    for row in rows:
        racks.setdefault(row.member.path.split('/')[0], set()).add(
            row.place.location[-1])
    assert list(racks.values()) == [{'r1', 'r2'}] * 4
    audit(cloud, servers)


def test_one_pair_more_than_the_switches_have_room_for_is_unplaceable(cloud):
    record = created(cloud, 5)
    assert record.status == GroupStatus.UNPLACEABLE
    assert BANDWIDTH[0] in record.reasons[0]['message']
