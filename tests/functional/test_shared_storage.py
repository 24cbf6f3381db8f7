# SPDX-License-Identifier: Apache-2.0
"""Servers whose disks are in a storage that their hosts share."""

from collections import Counter
import uuid

from nova import exception
import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.placement_audit import no_others, resources
from tests.functional.sharing_providers import VERSION
from tests.functional.storage_cloud import (  # noqa: F401
    api_service, boot, created, empty_cloud, R1, running_cloud, SSD, used)
from tests.unit.api.service import ADMIN


DISK = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 30}


def test_servers_are_built_from_holds_in_the_shared_storage(cloud):
    record = created(cloud, 3, policies=[
        {'type': 'anti-affinity'}, *R1['policies']])
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    assert used(cloud) == 90
    servers = boot(cloud, record.uuid)
    assert used(cloud) == 90
    # ``nova-manage placement audit`` knows compute nodes only.
    no_others(cloud, servers)


def test_the_storage_counts_once_for_all_hosts(cloud):
    """Each host alone could use the whole storage."""
    record = created(cloud, 4, **R1)
    assert record.status == GroupStatus.UNPLACEABLE
    assert 'nfs' in str(record.reasons)
    assert not used(cloud)
    # The host with its own disk has space for two more servers.
    record = created(cloud, 5)
    assert record.status == GroupStatus.PLANNED
    assert Counter(
        row.place.host for row in cloud.table.members(record.uuid))[
            'disk'] == 2
    assert created(cloud, 1).status == GroupStatus.UNPLACEABLE


def test_servers_without_a_pointer_use_the_storage_as_well(cloud):
    # The host with its own disk has no space for this server.
    server = cloud.create_server('stranger', 'large')
    cloud.wait_for_status(server, 'ACTIVE')
    assert used(cloud) == 70
    assert created(cloud, 2, **R1).status == GroupStatus.UNPLACEABLE
    assert created(cloud, 1, **R1).status == GroupStatus.PLANNED
    assert used(cloud) == 100


def test_the_capacity_of_a_released_group_is_free_again(cloud):
    record = created(cloud, 3, **R1)
    assert created(cloud, 1, **R1).status == GroupStatus.UNPLACEABLE
    cloud.lifecycle.release(record.uuid)
    assert not used(cloud)
    assert created(cloud, 3, **R1).status == GroupStatus.PLANNED


def test_a_consumer_in_the_storage_leads_to_another_plan(cloud):
    """No notification reports this consumer. Placement refuses the holds, and
    the next plan uses the other host."""
    assert created(cloud, 1, **R1).status == GroupStatus.PLANNED
    consumer = str(uuid.uuid4())
    cloud.placement.put(
        f'/allocations/{consumer}', microversion=VERSION, json={
            'allocations': {cloud.storage: {'resources': {'DISK_GB': 60}}},
            'project_id': PROJECT, 'user_id': USER,
            'consumer_type': 'OTHER', 'consumer_generation': None})
    record = created(cloud, 2)
    assert record.status == GroupStatus.PLANNED
    assert {row.place.host for row in cloud.table.members(record.uuid)} == {
        'disk'}
    cloud.delete_consumer(consumer)


def test_only_members_without_space_in_the_storage_move(cloud, monkeypatch):
    """After the plan, another consumer leaves space for one of three members.
    The first member can be on one host only, and keeps its place."""
    consumer = str(uuid.uuid4())
    placed, decide = [], SnapshotPlanner.decide

    def watched(self, request, **options):
        decision = decide(self, request, **options)
        if not placed:
            cloud.placement.put(
                f'/allocations/{consumer}', microversion=VERSION, json={
                    'allocations': {
                        cloud.storage: {'resources': {'DISK_GB': 50}}},
                    'project_id': PROJECT, 'user_id': USER,
                    'consumer_type': 'OTHER', 'consumer_generation': None})
        placed.append(dict(request.placed))
        return decision

    monkeypatch.setattr(SnapshotPlanner, 'decide', watched)
    record = cloud.planner.create({'name': 'web', 'members': [
        {'name': 'one', 'flavor': 'disk', 'location': 'nova/r1/diskless-1'},
        {'name': 'web', 'flavor': 'disk', 'count': 2}]},
        project_id=PROJECT, user_id=USER, objective='fewest-hosts')
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    # The second plan moves the other members only.
    assert placed == [{}, {'one': 'diskless-1'}]
    assert {row.member.path: row.place.host for row
            in cloud.table.members(record.uuid)} == {
        'one': 'diskless-1', 'web-0': 'disk', 'web-1': 'disk'}
    for row in cloud.table.members(record.uuid):
        assert resources(cloud, row.hold) == (
            {row.place.provider: DISK} if row.place.host == 'disk' else {
                row.place.provider: {'VCPU': 1, 'MEMORY_MB': 512},
                cloud.storage: {'DISK_GB': 30}})
    cloud.delete_consumer(consumer)


def test_a_trait_of_the_storage_is_required_or_forbidden(cloud):
    """The root providers of the hosts do not have the trait. Stock Nova
    selects the same hosts."""
    for flavor, rack in ('ssd', 'r1'), ('hdd', 'r2'):
        server = cloud.create_server('stranger', flavor)
        cloud.wait_for_status(server, 'ACTIVE')
        assert (cloud.host_of(server) == 'disk') == (rack == 'r2')
        cloud.delete_server(server)
    record = created(cloud, 3, 'ssd')
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    assert used(cloud) == 90
    boot(cloud, record.uuid, 'ssd')
    assert created(cloud, 1, 'ssd').status == GroupStatus.UNPLACEABLE
    record = created(cloud, 2, 'hdd')
    assert {row.place.host for row in cloud.table.members(record.uuid)} == {
        'disk'}
    refused = created(cloud, 1, 'hdd', **R1)
    assert refused.status == GroupStatus.UNPLACEABLE


def test_a_trait_of_the_storage_does_not_count_without_a_disk(cloud):
    record = created(cloud, 1, 'no-disk')
    assert record.status == GroupStatus.UNPLACEABLE
    assert SSD in str(record.reasons)


def test_members_without_a_disk_need_no_storage(cloud):
    created(cloud, 3, **R1)
    record = created(cloud, 4, 'diskless', **R1)
    assert record.status == GroupStatus.PLANNED
    for row in cloud.table.members(record.uuid):
        assert set(resources(cloud, row.hold)) == {row.place.provider}


def in_groups(cloud, count, **groups):
    """A group whose members request disks in these request groups."""
    return cloud.planner.create(
        {'name': 'web', 'policies': [
            {'type': 'anti-affinity'}, *R1['policies']], 'members': [{
                'name': 'web', 'count': count,
                'resources': {'VCPU': 1, 'MEMORY_MB': 512},
                'request_groups': {
                    name: {'resources': {'DISK_GB': amount}}
                    for name, amount in groups.items()}}]},
        project_id=PROJECT, user_id=USER)


def test_request_groups_are_served_by_the_storage(cloud):
    """Placement proposes no sharing provider for a request group without
    other resources of the host."""
    record = in_groups(cloud, 3, _root=20, _swap=10)
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    assert used(cloud) == 90
    for row in cloud.table.members(record.uuid):
        assert resources(cloud, row.hold) == {
            row.place.provider: {'VCPU': 1, 'MEMORY_MB': 512},
            cloud.storage: {'DISK_GB': 30}}
        assert dict(row.place.allocation.mappings) == {
            '': (row.place.provider,), '_root': (cloud.storage,),
            '_swap': (cloud.storage,)}
    assert in_groups(cloud, 1, _root=20).status == GroupStatus.UNPLACEABLE


def updated(cloud, service, group, name, count):
    revision = cloud.table.get_group(group).revision
    return service.ask('PUT', f'/v1/groups/{group}?wait=60', {'group': {
        'name': 'web', **R1, 'members': [
            {'name': name, 'flavor': 'disk', 'count': count}]}}, ADMIN,
        headers={'OpenStack-API-Version': 'holistic 1.2',
                 'If-Match': f'"{revision}"'}).json


def test_an_update_adds_members_as_long_as_the_storage_has_space(
        cloud, service):
    group = created(cloud, 2, **R1).uuid
    servers = boot(cloud, group)
    assert 'nfs' in str(updated(cloud, service, group, 'web', 4))
    assert used(cloud) == 60
    updated(cloud, service, group, 'web', 3)
    assert used(cloud) == 90
    third = [row for row in cloud.table.members(group)
             if row.state == MemberState.PLANNED]
    assert [row.member.path for row in third] == ['web-2']
    assert len(servers) == 2


def test_an_update_reuses_the_storage_of_the_members_that_it_removes(
        cloud, service):
    group = created(cloud, 3, **R1).uuid
    updated(cloud, service, group, 'other', 3)
    assert sorted(row.member.path for row in cloud.table.members(group)) == [
        'other-0', 'other-1', 'other-2']
    assert used(cloud) == 90
    boot(cloud, group)


def test_a_further_server_uses_the_storage_of_its_siblings(cloud):
    group = cloud.planner.create(
        {'name': 'web', **R1, 'members': [{
            'name': 'web', 'flavor': 'disk',
            'count': {'min': 1, 'desired': 1, 'max': 9}}]},
        project_id=PROJECT, user_id=USER).uuid
    for number in range(3):
        server = cloud.create_server('web', 'disk', {
            'group': group, 'member': 'web'})
        cloud.wait_for_status(server, 'ACTIVE')
        assert used(cloud) == 30 * (number + 1)
        assert resources(cloud, server)[cloud.storage] == {'DISK_GB': 30}
    refused = cloud.create_server('web', 'disk', {
        'group': group, 'member': 'web'})
    assert cloud.fault_of(refused)
    assert used(cloud) == 90


@pytest.mark.parametrize('closed', [False, True])
def test_a_server_is_built_on_an_alternate_with_the_storage(
        cloud, monkeypatch, closed):
    """The build fails on the planned host, or the host is disabled. The server
    uses the storage in place of the hold, also if the storage is full."""
    def no_spawn(*args, **kwargs):
        raise exception.NovaException('out of order')

    group = created(cloud, 3, **R1).uuid
    assert used(cloud) == 90
    row = cloud.row(group, 'web-0')
    assert 'disk' not in {place.host for place in row.alternates}
    if closed:
        cloud.disable_compute(row.place.host)
    else:
        monkeypatch.setattr(
            cloud.computes.services[row.place.host].manager.driver, 'spawn',
            no_spawn)
    server = cloud.create_server(
        'web-0', 'disk', {'group': group, 'member': 'web-0'})
    cloud.wait_for_status(server, 'ACTIVE')
    (place,) = (each for each in row.alternates
                if each.host == cloud.host_of(server))
    assert used(cloud) == 90
    assert resources(cloud, server) == {
        place.provider: {'VCPU': 1, 'MEMORY_MB': 512},
        cloud.storage: {'DISK_GB': 30}}
    cloud.reconciler.reconcile()
    now = cloud.row(group, 'web-0')
    assert (now.state, now.place) == (MemberState.BUILT, place)
    cloud.enable_computes()


def test_an_alternate_may_have_its_own_disk(cloud):
    group = created(cloud, 1, **R1).uuid
    assert not {place.host for place in cloud.row(group, 'web-0').alternates
                } - {'diskless-1', 'diskless-2', 'reserved'}
    group = created(cloud, 1, 'large').uuid
    row = cloud.row(group, 'web-0')
    # The host with its own disk is too small.
    assert {row.place.host, *(p.host for p in row.alternates)} == {
        'diskless-1', 'diskless-2', 'reserved'}
    cloud.lifecycle.release(group)
    row = cloud.row(created(cloud, 1).uuid, 'web-0')
    assert {row.place.host, *(p.host for p in row.alternates)} == {
        'diskless-1', 'diskless-2', 'reserved', 'disk'}
    for place in row.alternates:
        assert dict(place.allocation.resources) == ({
            place.provider: DISK} if place.host == 'disk' else {
            place.provider: {'VCPU': 1, 'MEMORY_MB': 512},
            cloud.storage: {'DISK_GB': 30}})
