# SPDX-License-Identifier: Apache-2.0
"""Members whose servers have ports with a minimum bandwidth and packet rate,
on a real Nova with the Neutron of Nova's tests."""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.fake_ports import (
    BANDWIDTH, create_provider, PACKETS, PortsNeutron)
from tests.functional.placement_audit import audit, resources

HOSTS = tuple(EmbeddedHost(name, rack=rack, vcpus=16) for name, rack in (
    ('net-1', 'r1'), ('net-2', 'r1'), ('plain', 'r2')))
NORMAL, PHYSNET = 'CUSTOM_VNIC_TYPE_NORMAL', 'CUSTOM_PHYSNET_BLUE'
# Each bridge has capacity for six ports, and its agent for five.
PORT = {'bandwidth': (dict.fromkeys(BANDWIDTH, 1000), [NORMAL, PHYSNET]),
        'packets': ({PACKETS: 200}, [NORMAL])}


@pytest.fixture(scope='module')
def running(own_cloud):
    with own_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        cloud.neutron = cloud.computes.useFixture(PortsNeutron())
        cloud.create_flavor('small', 1, 512, 1)
        cloud.agents, cloud.bridges = {}, {}
        for host in ('net-1', 'net-2'):
            root = cloud.providers()[host]
            cloud.agents[host] = create_provider(
                cloud, f'{host}:Open vSwitch agent', root, {PACKETS: 1000},
                [NORMAL])
            cloud.bridges[host] = create_provider(
                cloud, f'{host}:Open vSwitch agent:br', cloud.agents[host],
                dict.fromkeys(BANDWIDTH, 6000), [NORMAL, PHYSNET])
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()


def described(ports=1, without=()):
    """The request groups of a member with such ports."""
    names = [[f'{kind}{n}' for kind in PORT if kind not in without]
             for n in range(ports)]
    return {'request_groups': {
        name: {'resources': PORT[name[:-1]][0],
               'traits': {'required': PORT[name[:-1]][1]}}
        for each in names for name in each},
        **({'same_subtree': names} if not without else {})}


def created(cloud, count, **member):
    return cloud.planner.create({'name': 'ports', 'members': [
        {'name': 'node', 'flavor': 'small', 'count': count, **member}]},
        project_id=PROJECT, user_id=USER)


def new_port(cloud):
    return cloud.neutron.add_port(cloud.neutron.network_1['id'], 'normal',
                                  *PORT.values())


def create_server(cloud, row, ports):
    return cloud.create_server(
        row.member.path, 'small',
        {'group': row.group_uuid, 'member': row.member.path},
        networks=[{'port': port} for port in ports])


@pytest.mark.parametrize('ports, count', [(1, 10), (2, 4)])
def test_the_ports_of_each_server_use_the_providers_that_were_held(
        cloud, ports, count):
    """The group uses the whole capacity of the agents. Nova sends Neutron the
    provider of each request group of a port."""
    record = created(cloud, count, **described(ports))
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    servers = []
    for row in cloud.table.members(record.uuid):
        held = resources(cloud, row.hold)
        own = [new_port(cloud) for _ in range(ports)]
        server = create_server(cloud, row, own)
        cloud.wait_for_status(server, 'ACTIVE')
        servers.append(server)
        host = row.place.host
        assert cloud.host_of(server) == host
        assert resources(cloud, server) == held == {
            row.place.provider: {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1},
            cloud.bridges[host]: dict.fromkeys(BANDWIDTH, 1000 * ports),
            cloud.agents[host]: {PACKETS: 200 * ports}}
        for port in own:
            bandwidth, packets = cloud.neutron.groups(port)
            bound, profile = cloud.neutron.binding(port)
            assert bound == host
            assert profile['allocation'] == {
                bandwidth: cloud.bridges[host], packets: cloud.agents[host]}
        now = cloud.row(record.uuid, row.member.path)
        assert (now.state, now.instance_uuid) == (MemberState.CLAIMED, server)
        assert cloud.holds.exists(row.hold) is None
    audit(cloud, servers)


def test_one_port_more_than_the_agents_can_serve_is_unplaceable(cloud):
    record = created(cloud, 11, **described())
    assert record.status == GroupStatus.UNPLACEABLE
    assert PACKETS in record.reasons[0]['message']


@pytest.mark.parametrize('ports, member', [
    # The server has no port, two ports, or a port that is described only in
    # part.
    (0, described()), (2, described()), (1, described(without=['packets'])),
    # The sets of groups differ.
    (1, {'request_groups': described()['request_groups']})])
def test_a_server_with_other_ports_than_described_is_refused(
        cloud, ports, member):
    record = created(cloud, 1, **member)
    assert record.status == GroupStatus.PLANNED
    row = cloud.row(record.uuid, 'node-0')
    held = resources(cloud, row.hold)
    server = create_server(cloud, row, [
        new_port(cloud) for _ in range(ports)] or []) if ports else (
            cloud.create_server('node-0', 'small', {
                'group': record.uuid, 'member': 'node-0'}))
    assert 'does not match the description' in cloud.fault_of(server)
    assert not resources(cloud, server)
    # The member can still be claimed.
    now = cloud.row(record.uuid, 'node-0')
    assert (now.state, resources(cloud, now.hold)) == (
        MemberState.PLANNED, held)
