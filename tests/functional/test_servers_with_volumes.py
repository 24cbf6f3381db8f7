# SPDX-License-Identifier: Apache-2.0
"""Real servers of groups with volumes. A real Cinder cannot run in the process
of Nova: see tests/cinder."""

from dataclasses import replace

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
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
