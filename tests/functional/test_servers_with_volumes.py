# SPDX-License-Identifier: Apache-2.0
"""Real servers of groups with volumes. A real Cinder cannot run in the process
of Nova: see tests/cinder."""

from dataclasses import replace

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.table.records import GroupStatus
from tests.functional.api.storage import pool

HOSTS = (EmbeddedHost('cmp-0', zone='az1', rack='r1'),
         EmbeddedHost('cmp-1', zone='az1', rack='r2'),
         EmbeddedHost('cmp-2', zone='az1', rack='r2'))


@pytest.fixture(scope='module')
def cloud_hosts():
    return HOSTS


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.clear()


@pytest.fixture
def pools(cloud, monkeypatch):
    """A pool in the second rack."""
    found = replace(pool('array@lvm#fast', 'r2', 100),
                    location=('az1', 'r2'), availability_zone='az1')
    monkeypatch.setattr(cloud.inventory, 'read_pools',
                        lambda snapshot: replace(snapshot, pools=(found,)))


def test_servers_are_created_near_their_volumes(cloud, pools):
    record = cloud.planner.create({'name': 'db', 'policies': [
        {'type': 'affinity', 'level': 'rack'}], 'members': [
        {'name': 'root', 'flavor': 'small', 'boot_volume': 'disk'},
        {'name': 'server', 'flavor': 'small', 'count': 2},
        {'name': 'disk', 'kind': 'volume', 'size': 10},
        {'name': 'data', 'kind': 'volume', 'size': 20, 'count': 2,
         'volume_type': 'fast'}]}, project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    group = record.uuid
    servers = [cloud.boot_from_volume(
        'root', 'small', {'group': group, 'member': 'root'}),
        *(cloud.create_server(
            'server', 'small', {'group': group, 'member': 'server'})
          for _ in range(2))]
    for server in servers:
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) in ('cmp-1', 'cmp-2')
    cloud.reconciler.reconcile()
    found = cloud.table.get_group(group)
    assert (found.status, found.violations) == (GroupStatus.COMPLETE, ())
    assert set(cloud.table.volumes.placed(group).values()) == {
        'array@lvm#fast'}


@pytest.fixture
def server(cloud, pools):
    """The server of a group with a volume. It is on cmp-1."""
    record = cloud.planner.create({'name': 'db', 'policies': [
        {'type': 'affinity', 'level': 'rack'}], 'members': [
        {'name': 'server', 'flavor': 'small', 'location': 'az1/r2/cmp-1'},
        {'name': 'data', 'kind': 'volume', 'size': 20}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    found = cloud.create_server(
        'server', 'small', {'group': record.uuid, 'member': 'server'})
    cloud.wait_for_status(found, 'ACTIVE')
    cloud.reconciler.reconcile()
    return found


def test_a_server_moves_only_near_its_volumes(cloud, server):
    cloud.disable_compute('cmp-2')
    with pytest.raises(EmbeddedCloudError):
        cloud.live_migrate(server)
    assert cloud.host_of(server) == 'cmp-1'
    cloud.enable_compute('cmp-2')
    assert cloud.live_migrate(server) == 'cmp-2'


def test_a_cold_migration_stays_near_the_volumes(cloud, server):
    """Nova itself prefers the empty host in the other rack."""
    cloud.occupy('cmp-2', 'small')
    assert cloud.migrate(server) == 'cmp-2'


def test_a_server_is_evacuated_only_near_its_volumes(cloud, server):
    cloud.stop_compute('cmp-1')
    try:
        cloud.disable_compute('cmp-2')
        with pytest.raises(EmbeddedCloudError):
            cloud.evacuate(server)
        cloud.enable_compute('cmp-2')
        assert cloud.evacuate(server) == 'cmp-2'
    finally:
        cloud.start_compute('cmp-1')


def test_a_forced_migration_degrades_the_group(cloud, server):
    """The scheduler is not involved."""
    (group,) = (each.uuid for each in cloud.table.list_groups())
    cloud.force_live_migration(server, 'cmp-0')
    assert cloud.reconciler.reconcile() == {'moved': 1, 'degraded': 1}
    (reason,) = cloud.table.get_group(group).violations
    assert 'az1/r1 has server; az1/r2 has data' in reason['message']
    assert cloud.live_migrate(server) in ('cmp-1', 'cmp-2')
    assert cloud.reconciler.reconcile()['recovered'] == 1
