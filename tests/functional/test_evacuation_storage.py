# SPDX-License-Identifier: Apache-2.0
"""Holds are given up for the evacuation of servers whose disks are in a
storage that hosts share."""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.scheduler.claim.host_capacity import HostCapacity
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.placement_audit import resources
from tests.functional.sharing_providers import add_sharing, change, VERSION
from tests.functional.storage_cloud import (  # noqa: F401
    empty_cloud, HOSTS, running_cloud, used)


@pytest.fixture
def dying(cloud):
    """A function that stops diskless-1 until the end of the test, and leaves
    diskless-2 as the only other host."""
    stopped = []

    def die():
        for host in HOSTS:
            if not host.name.startswith('diskless'):
                cloud.disable_compute(host.name)
        cloud.stop_compute('diskless-1')
        stopped.append('diskless-1')

    yield die
    for host in stopped:
        cloud.start_compute(host)
    cloud.enable_computes()


def beside(cloud, flavor, count):
    """A group, and the server of its member web on diskless-1. The other
    members are planned on diskless-2.

    :param flavor: flavor of the other members
    :param count: number of the other members
    """
    record = cloud.planner.create({'name': 'shop', 'members': [
        {'name': 'web', 'flavor': 'disk', 'location': 'nova/r1/diskless-1'},
        {'name': 'idle', 'flavor': flavor, 'count': count,
         'location': 'nova/r1/diskless-2'}]},
        project_id=PROJECT, user_id=USER)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    server = cloud.create_server(
        'web', 'disk', {'group': record.uuid, 'member': 'web'})
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.host_of(server) == 'diskless-1'
    return record.uuid, server


def states(cloud, group):
    return sorted(row.state for row in cloud.table.members(group)
                  if row.member.path.startswith('idle'))


def test_a_hold_without_a_disk_is_given_up(cloud, dying):
    """Holds use all processors of the other host, and the storage has
    space."""
    group, server = beside(cloud, 'diskless', 8)
    dying()
    assert cloud.evacuate(server) == 'diskless-2'
    assert states(cloud, group) == [
        MemberState.LOST, *[MemberState.PLANNED] * 7]
    assert resources(cloud, server)[cloud.providers()['diskless-2']] == {
        'VCPU': 1, 'MEMORY_MB': 512}


def test_a_hold_that_fills_the_storage_is_given_up(cloud, dying):
    """Placement proposes no host until the storage has free capacity for the
    disk of the server, which it already contains."""
    group, server = beside(cloud, 'large', 1)
    assert used(cloud) == 100
    dying()
    assert cloud.evacuate(server) == 'diskless-2'
    assert states(cloud, group) == [MemberState.LOST]
    assert used(cloud) == 30


def test_no_hold_is_given_up_if_that_frees_too_little(cloud, dying):
    """Another consumer uses the rest of the storage."""
    group, server = beside(cloud, 'diskless', 8)
    consumer = '6e3f8f8a-6f1c-4a52-9a44-0c3f5a1c7d21'
    cloud.placement.put(
        f'/allocations/{consumer}', microversion=VERSION, json={
            'allocations': {cloud.storage: {'resources': {'DISK_GB': 60}}},
            'project_id': PROJECT, 'user_id': USER,
            'consumer_type': 'OTHER', 'consumer_generation': None})
    dying()
    with pytest.raises(EmbeddedCloudError):
        cloud.evacuate(server)
    assert states(cloud, group) == [MemberState.PLANNED] * 8
    cloud.delete_consumer(consumer)


def add(cloud, name, parent=None, **totals):
    """Create a provider; returns its UUID."""
    uuid = f'00000000-0000-4000-8000-{len(name):012}'
    cloud.placement.post('/resource_providers', microversion=VERSION, json={
        'name': name, 'uuid': uuid,
        **({'parent_provider_uuid': parent} if parent else {})})
    change(cloud.placement, uuid, 'inventories', {
        resource_class: {'total': total}
        for resource_class, total in totals.items()})
    return uuid


def test_the_capacity_of_a_host_is_that_of_all_its_providers(cloud):
    root = add(cloud, 'r', VCPU=4)
    card = add(cloud, 'card', root, VGPU=2)
    share = add_sharing(cloud.placement, 'share', [root], DISK_GB=50)
    other = add_sharing(cloud.placement, 'other', [], DISK_GB=70)
    try:
        capacity = HostCapacity(cloud.placement)
        # The root provider is sufficient.
        assert capacity.free(root, ['VCPU']) == {(root, 'VCPU'): 4}
        assert capacity.free(root, ['VCPU', 'DISK_GB']) == {
            (root, 'VCPU'): 4, (card, 'VGPU'): 2, (share, 'DISK_GB'): 50}
    finally:
        for uuid in card, root, share, other:
            cloud.placement.delete(f'/resource_providers/{uuid}')
