# SPDX-License-Identifier: Apache-2.0
"""A cloud of hosts that share a storage, and one host with its own disk.

Two of the hosts that share the storage report no disk, as VMware's driver
does. The third one reports a disk that is reserved completely: the libvirt
driver always reports a disk, and an operator reserves it with
``reserved_host_disk_mb``.
"""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from nova_holistic.table.records import MemberState
from tests.functional.placement_audit import resources
from tests.functional.sharing_providers import add_sharing
from tests.unit.api.service import Service

STORAGE = 100
"""GiB of the storage."""
SSD = 'STORAGE_DISK_SSD'
"""A trait of the storage."""

HOSTS = (*(EmbeddedHost(f'diskless-{number}', rack='r1', vcpus=8, disk_gb=0)
           for number in (1, 2)),
         EmbeddedHost('reserved', rack='r1', vcpus=8, disk_gb=60,
                      reserved_disk_gb=60),
         EmbeddedHost('disk', zone='local', rack='r2', vcpus=8, disk_gb=60))


@pytest.fixture(name='running', scope='module')
def running_cloud(own_cloud):
    with own_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0,
            ('reconciler', 'grace'): 0}) as cloud:
        roots = cloud.providers()
        cloud.storage = add_sharing(
            cloud.placement, 'nfs',
            [roots[host.name] for host in HOSTS[:3]], SSD, DISK_GB=STORAGE)
        cloud.create_flavor('disk', 1, 512, 30)
        cloud.create_flavor('large', 1, 512, 70)
        cloud.create_flavor('diskless', 1, 512, 0)
        cloud.create_flavor('ssd', 1, 512, 30, {f'trait:{SSD}': 'required'})
        cloud.create_flavor('hdd', 1, 512, 30, {f'trait:{SSD}': 'forbidden'})
        cloud.create_flavor('no-disk', 1, 512, 0, {f'trait:{SSD}': 'required'})
        yield cloud


@pytest.fixture(name='cloud')
def empty_cloud(running):
    yield running
    running.clear()


def created(cloud, count, flavor='disk', **others):
    return cloud.planner.create(
        {'name': 'web', **others, 'members': [
            {'name': 'web', 'flavor': flavor, 'count': count}]},
        project_id=PROJECT, user_id=USER)


def used(cloud):
    """GiB of the storage that are in use."""
    return cloud.placement.get(
        f'/resource_providers/{cloud.storage}/usages').json()['usages'][
            'DISK_GB']


def boot(cloud, group, flavor='disk'):
    """Create all servers of a group; returns their UUIDs. Asserts that each
    server is active on its planned host with the allocations of its hold."""
    servers = []
    for row in cloud.table.members(group):
        held = resources(cloud, row.hold)
        assert held[cloud.storage] == {'DISK_GB': 30}
        assert held[row.place.provider] == {'VCPU': 1, 'MEMORY_MB': 512}
        path = row.member.path
        server = cloud.create_server(
            path, flavor, {'group': group, 'member': path})
        cloud.wait_for_status(server, 'ACTIVE')
        now = cloud.row(group, path)
        assert (now.state, now.instance_uuid) == (MemberState.CLAIMED, server)
        assert cloud.host_of(server) == row.place.host
        assert resources(cloud, server) == held
        assert not resources(cloud, row.hold)
        servers.append(server)
    return servers


R1 = {'policies': [{'type': 'location', 'path': 'nova/r1'}]}


@pytest.fixture(name='service')
def api_service(cloud):
    return Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle,
            cloud.repairer)))
