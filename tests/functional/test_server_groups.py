# SPDX-License-Identifier: Apache-2.0
"""A server group of Nova and a pointer in one request agree.

The planner knows the server group: it counts the servers and the planned
members of the server group.
"""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.records import GroupStatus

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1')
              for number in range(3))
UNKNOWN = '11111111-2222-3333-4444-555555555555'


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def create(cloud, group, **keys):
    """A group whose members are in a server group."""
    member = {'name': 'a', 'flavor': 'small', 'server_group': group, **keys}
    return cloud.planner.create(
        {'name': 'shop', 'members': [member]}, project_id=PROJECT,
        user_id=USER)


def hosts_of(cloud, record):
    assert record.status == GroupStatus.PLANNED, record.reasons
    return [row.place.host for row in cloud.table.members(record.uuid)]


def boot(cloud, name, group, pointer=None):
    server = cloud.create_server(
        name, 'small', pointer, hints={'group': group})
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


def boot_all(cloud, record, group):
    """The host of each member's server."""
    return [boot(cloud, row.member.path, group, {
        'group': record.uuid, 'member': row.member.path})
        for row in cloud.table.members(record.uuid)]


def test_members_avoid_hosts_of_servers_of_their_server_group(cloud):
    group = cloud.create_server_group('apart', 'anti-affinity')
    taken = boot(cloud, 'other-server', group)
    record = create(cloud, group, count=2)
    hosts = hosts_of(cloud, record)
    assert {taken, *hosts} == {host.name for host in HOSTS}
    assert boot_all(cloud, record, group) == hosts
    more = create(cloud, group)
    assert more.status == GroupStatus.UNPLACEABLE


def test_members_keep_to_max_server_per_host(cloud):
    group = cloud.create_server_group(
        'apart', 'anti-affinity', max_server_per_host=2)
    taken = boot(cloud, 'other-server', group)
    record = create(cloud, group, count=5)
    hosts = hosts_of(cloud, record)
    assert sorted(map(hosts.count, set(hosts))) == [1, 2, 2]
    assert hosts.count(taken) == 1
    assert boot_all(cloud, record, group) == hosts


def test_members_join_the_host_of_their_server_group(cloud):
    group = cloud.create_server_group('together', 'affinity')
    taken = boot(cloud, 'other-server', group)
    record = create(cloud, group, count=2)
    assert hosts_of(cloud, record) == [taken, taken]
    assert boot_all(cloud, record, group) == [taken, taken]


def test_members_of_a_server_group_without_servers_are_together(cloud):
    group = cloud.create_server_group('together', 'affinity')
    record = cloud.planner.create({'name': 'shop', 'members': [
        {'name': 'a', 'flavor': 'small', 'server_group': group}],
        'groups': [{'name': 'more', 'members': [
            {'name': 'b', 'flavor': 'small', 'count': 2,
             'server_group': group}]}]},
        project_id=PROJECT, user_id=USER)
    hosts = hosts_of(cloud, record)
    assert len(hosts) == 3 and len(set(hosts)) == 1
    assert boot_all(cloud, record, group) == hosts


def test_servers_of_the_group_itself_are_counted_once(cloud):
    """A lost member is planned again while another member has a server."""
    group = cloud.create_server_group('apart', 'anti-affinity')
    record = create(cloud, group, count=3)
    first = cloud.table.members(record.uuid)[0]
    assert boot(cloud, 'a-0', group, {
        'group': record.uuid, 'member': 'a-0'}) == first.place.host
    lost = cloud.row(record.uuid, 'a-1')
    cloud.holds.drop([lost.hold])
    cloud.reconciler.reconcile()
    row = cloud.row(record.uuid, 'a-1')
    assert (row.state, row.held) == ('planned', True)
    assert len({each.place.host
                for each in cloud.table.members(record.uuid)}) == 3


@pytest.mark.parametrize('policy', ['soft-affinity', 'soft-anti-affinity'])
def test_a_soft_policy_hinders_no_member(cloud, policy):
    group = cloud.create_server_group('soft', policy)
    record = create(cloud, group, count=4)
    hosts = hosts_of(cloud, record)
    assert boot_all(cloud, record, group) == hosts


def test_an_unknown_server_group_is_refused_with_its_place(cloud):
    other_server_group = cloud.create_server_group('theirs', 'affinity',
                                                   project_id='x')
    for group in UNKNOWN, other_server_group:
        with pytest.raises(InvalidDocument) as caught:
            create(cloud, group)
        assert str(caught.value) == (
            f'members[0].server_group: unknown server group {group}')


def test_a_server_group_other_than_described_is_refused(cloud):
    first = cloud.create_server_group('first', 'anti-affinity')
    second = cloud.create_server_group('second', 'anti-affinity')
    record = create(cloud, first)
    server = cloud.create_server(
        'a', 'small', {'group': record.uuid, 'member': 'a'},
        hints={'group': second})
    assert (f'it requests server group {second}, but the description states '
            f'server group {first}' in cloud.fault_of(server))
