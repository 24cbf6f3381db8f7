# SPDX-License-Identifier: Apache-2.0
"""The rows of existing servers whose disks are in a shared storage."""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.placement_audit import resources
from tests.functional.storage_cloud import (  # noqa: F401
    api_service, boot, created, empty_cloud, R1, running_cloud, used)
from tests.unit.api.service import Token

DISK = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 30}
LARGE = {**DISK, 'DISK_GB': 70}


def reconcile(cloud):
    """Two passes of the reconciler; returns their corrections."""
    found = cloud.reconciler.reconcile()
    found.update(cloud.reconciler.reconcile())
    return found


def amounts(row):
    return dict(row.member.requirements.resources)


def allocation(row):
    """The allocation in the row of a member, by UUID of the provider."""
    return {uuid: dict(each) for uuid, each
            in row.place.allocation.resources.items()}


@pytest.fixture
def built(cloud):
    """A group of one server, and the UUID of the server."""
    group = created(cloud, 1, **R1).uuid
    (server,) = boot(cloud, group)
    assert reconcile(cloud) == {'built': 1}
    return group, server


def test_the_reconciler_leaves_the_resources_of_servers_unchanged(
        cloud, built):
    """The root provider of the host has no disk."""
    group, _ = built
    (row,) = cloud.table.members(group)
    assert (amounts(row), row.planned) == (DISK, None)
    assert not reconcile(cloud)


def test_a_moved_server_is_recorded_at_the_storage(cloud, built):
    group, server = built
    cloud.live_migrate(server)
    assert reconcile(cloud) == {'moved': 1}
    (row,) = cloud.table.members(group)
    assert row.place.host == cloud.host_of(server)
    assert (amounts(row), row.planned) == (DISK, None)
    assert allocation(row) == resources(cloud, server)
    assert used(cloud) == 30


def test_the_place_of_a_resized_server_is_held_as_planned(cloud, built):
    group, server = built
    cloud.resize(server, 'large')
    assert reconcile(cloud)['resized'] == 1
    (row,) = cloud.table.members(group)
    assert amounts(row) == LARGE
    assert allocation(row) == resources(cloud, server)
    assert not reconcile(cloud)
    cloud.delete_server(server)
    reconcile(cloud)
    (row,) = cloud.table.members(group)
    assert (row.state, amounts(row)) == (MemberState.PLANNED, DISK)
    assert used(cloud) == 30
    boot(cloud, group)


def test_a_server_in_the_storage_is_adopted(cloud, service):
    # The host with its own disk has no space for this server.
    server = cloud.create_server('stranger', 'large')
    cloud.wait_for_status(server, 'ACTIVE')
    group = service.ask('POST', '/v1/groups?wait=60', {'group': {
        'name': 'web', 'adopt': {'web': server},
        'members': [{'name': 'web', 'flavor': 'large'}]}},
        Token(USER, PROJECT),
        headers={'OpenStack-API-Version': 'holistic 1.2'}).json['group']
    assert group['status'] == GroupStatus.COMPLETE
    (row,) = cloud.table.members(group['id'])
    assert (row.state, row.instance_uuid) == (MemberState.BUILT, server)
    assert amounts(row) == LARGE
    assert not reconcile(cloud)
    (row,) = cloud.table.members(group['id'])
    assert amounts(row) == LARGE
    assert allocation(row) == resources(cloud, server)
