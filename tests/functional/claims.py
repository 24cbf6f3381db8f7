# SPDX-License-Identifier: Apache-2.0
"""Requests and assertions of the tests of claims."""

from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack=f'r{number}',
                           vcpus=4) for number in range(5))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
ALL_CPUS = {'VCPU': 4}
APART = [{'type': 'anti-affinity', 'level': 'host'}]


def document(*names, policies=()):
    return {'name': 'shop', 'policies': list(policies), 'members': [
        {'name': name, 'flavor': 'small'} for name in names]}


def create(cloud, group, member):
    return cloud.create_server(
        member, 'small', {'group': group, 'member': member})


def host_of_active(cloud, server):
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


def assert_claimed(cloud, group, path, server, host):
    """Assert that row, allocation and server agree, and that the hold does not
    exist."""
    row = cloud.row(group, path)
    assert (row.state, row.held, row.instance_uuid, row.place.host) == (
        MemberState.CLAIMED, False, server, host)
    assert cloud.consumers(host) == {server: SMALL}
    assert cloud.holds.exists(row.hold) is None


def assert_as_planned(cloud, before):
    """Assert that rows and allocations are unchanged."""
    rows, used = before
    now = cloud.table.members(rows[0].group_uuid)
    assert [(row.state, row.held, row.instance_uuid, row.place, row.hold)
            for row in now] == [
        (row.state, row.held, row.instance_uuid, row.place, row.hold)
        for row in rows]
    assert cloud.used() == used
    for row in rows:
        assert cloud.consumers(row.place.host) == {row.hold: SMALL}
