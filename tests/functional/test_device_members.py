# SPDX-License-Identifier: Apache-2.0
"""Members use providers below the root provider of their hosts."""

from collections import Counter

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.service.direct_engine import DirectEngine, PlanningParts
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.graphics_cards import card, FAST
from tests.unit.api.service import ADMIN, Service

HOSTS = (
    EmbeddedHost('gpu-1', rack='r1', vcpus=8, devices=(
        card('a', 2, FAST), card('b', 2))),
    EmbeddedHost('gpu-2', rack='r1', vcpus=8, devices=(
        card('a', 1), card('b', 1, FAST))),
    EmbeddedHost('plain', rack='r2', vcpus=8))
SPECS = {
    'vgpu': {'resources:VGPU': '1'},
    'two': {'resources1:VGPU': '1', 'resources2:VGPU': '1',
            'group_policy': 'isolate'},
    'pair': {'resources1:VGPU': '1', 'resources2:VGPU': '1',
             'group_policy': 'none'},
    'fast': {'resources_gpu:VGPU': '1', f'trait_gpu:{FAST}': 'required'},
    'large': {'resources:VGPU': '2'},
    # Nova's documentation uses such a trait for the type of a virtual GPU.
    'typed': {'resources:VGPU': '1', f'trait:{FAST}': 'required'},
    'untyped': {'resources:VGPU': '1', f'trait:{FAST}': 'forbidden'},
}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS, options={
            ('holistic', 'search_time_limit'): 0}) as cloud:
        for name, specs in SPECS.items():
            cloud.create_flavor(name, 2, 512, 1, specs)
        cloud.create_flavor('small', 2, 512, 1)
        yield cloud


@pytest.fixture
def cloud(running):
    yield running
    running.clear()


def document(*members, **others):
    return {'name': 'gpus', 'members': list(members), **others}


def node(flavor, count, name='node'):
    return {'name': name, 'flavor': flavor, 'count': count}


def created(cloud, asked):
    return cloud.planner.create(asked, project_id=PROJECT, user_id=USER)


def used(cloud):
    """Amounts in use of VGPU, by name of the device."""
    found = {}
    listed = cloud.placement.get('/resource_providers', microversion='1.14')
    for each in listed.json()['resource_providers']:
        usages = cloud.placement.get(
            f'/resource_providers/{each["uuid"]}/usages').json()['usages']
        if usages.get('VGPU'):
            found[each['name']] = usages['VGPU']
    return found


def boot(cloud, group, flavor):
    """Create all servers of a group; each must be active where planned."""
    for row in cloud.table.members(group):
        server = cloud.create_server(row.member.path, flavor, {
            'group': group, 'member': row.member.path})
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == row.place.host
        expected = row.place.allocation.to_placement()['allocations']
        found = cloud.placement.get(f'/allocations/{server}').json()
        assert {provider: each['resources'] for provider, each
                in found['allocations'].items()} == {
            provider: each['resources']
            for provider, each in expected.items()}
        now = cloud.row(group, row.member.path)
        assert (now.state, now.instance_uuid) == (MemberState.CLAIMED, server)
        assert cloud.holds.exists(row.hold) is None


@pytest.mark.parametrize('flavor, count, hosts, devices', [
    ('vgpu', 6, {'gpu-1': 4, 'gpu-2': 2},
     {'gpu-1_a': 2, 'gpu-1_b': 2, 'gpu-2_a': 1, 'gpu-2_b': 1}),
    ('two', 3, {'gpu-1': 2, 'gpu-2': 1},
     {'gpu-1_a': 2, 'gpu-1_b': 2, 'gpu-2_a': 1, 'gpu-2_b': 1}),
    ('fast', 3, {'gpu-1': 2, 'gpu-2': 1}, {'gpu-1_a': 2, 'gpu-2_b': 1}),
    ('large', 2, {'gpu-1': 2}, {'gpu-1_a': 2, 'gpu-1_b': 2}),
    ('typed', 3, {'gpu-1': 2, 'gpu-2': 1}, {'gpu-1_a': 2, 'gpu-2_b': 1}),
    ('untyped', 3, {'gpu-1': 2, 'gpu-2': 1}, {'gpu-1_b': 2, 'gpu-2_a': 1}),
])
def test_every_device_of_the_cloud_can_be_used(
        cloud, flavor, count, hosts, devices):
    record = created(cloud, document(node(flavor, count)))
    assert (record.status, record.reasons) == (GroupStatus.PLANNED, ())
    rows = cloud.table.members(record.uuid)
    assert Counter(row.place.host for row in rows) == hosts
    assert used(cloud) == devices
    boot(cloud, record.uuid, flavor)
    assert used(cloud) == devices


@pytest.mark.parametrize('flavor, most', [
    ('vgpu', 6), ('two', 3), ('fast', 3), ('large', 2), ('typed', 3),
    ('untyped', 3)])
def test_one_member_more_than_there_are_devices_is_unplaceable(
        cloud, flavor, most):
    record = created(cloud, document(node(flavor, most + 1)))
    assert record.status == GroupStatus.UNPLACEABLE
    assert 'VGPU' in record.reasons[0]['message']
    assert not used(cloud)


def test_members_of_several_flavors_share_the_devices(cloud):
    """The members of the first flavor get only devices that no other member
    needs."""
    record = created(cloud, document(
        node('vgpu', 3, 'any'), node('fast', 3)))
    assert record.status == GroupStatus.PLANNED
    assert used(cloud) == {
        'gpu-1_a': 2, 'gpu-1_b': 2, 'gpu-2_a': 1, 'gpu-2_b': 1}


def test_a_released_group_gives_its_devices_back(cloud):
    record = created(cloud, document(node('two', 3)))
    assert used(cloud)
    cloud.lifecycle.release(record.uuid)
    assert not used(cloud)
    again = created(cloud, document(node('two', 3)))
    assert again.status == GroupStatus.PLANNED


def test_a_server_with_other_request_groups_than_described_is_refused(cloud):
    record = created(cloud, document({
        'name': 'a', 'resources': {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1},
        'request_groups': {'1': {'resources': {'VGPU': 1}}}}))
    assert record.status == GroupStatus.PLANNED
    server = cloud.create_server('a', 'two', {
        'group': record.uuid, 'member': 'a'})
    assert 'does not match the description' in cloud.fault_of(server)
    assert sum(used(cloud).values()) == 1


def test_groups_in_a_document_match_those_of_a_flavor(cloud):
    """The suffixes may differ: the content of the groups decides."""
    record = created(cloud, document({
        'name': 'a', 'resources': {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1},
        'request_groups': {'gpu': {
            'resources': {'VGPU': 1}, 'traits': {'required': [FAST]}}}}))
    boot(cloud, record.uuid, 'fast')


def test_devices_that_others_took_since_the_snapshot_lead_to_a_new_plan(
        cloud):
    """The kept snapshot is out of date: its devices are in use."""
    cloud.inventory.snapshot()
    taken = cloud.create_server('other', 'two')
    cloud.wait_for_status(taken, 'ACTIVE')
    record = created(cloud, document(node('two', 2)))
    assert record.status == GroupStatus.PLANNED
    assert used(cloud) == {
        'gpu-1_a': 2, 'gpu-1_b': 2, 'gpu-2_a': 1, 'gpu-2_b': 1}
    boot(cloud, record.uuid, 'two')


@pytest.mark.parametrize('flavor', ['two', 'pair'])
def test_new_members_take_the_devices_that_removed_members_leave(
        cloud, flavor):
    """All devices are held until the update is written."""
    record = created(cloud, document(node(flavor, 3)))
    before = used(cloud)
    service = Service(cloud.table, DirectEngine(
        cloud.conf, cloud.clock, PlanningParts(
            cloud.table, cloud.inventory, cloud.planner, cloud.lifecycle,
            cloud.repairer)))
    answer = service.ask(
        'PUT', f'/v1/groups/{record.uuid}?wait=60',
        {'group': document(node(flavor, 3, 'other'))}, ADMIN, headers={
            'OpenStack-API-Version': 'holistic 1.2', 'If-Match':
            f'"{cloud.table.get_group(record.uuid).revision}"'})
    assert answer.status_int == 200, answer.json
    rows = cloud.table.members(record.uuid)
    assert sorted(row.member.path for row in rows) == [
        'other-0', 'other-1', 'other-2']
    assert used(cloud) == before == {
        'gpu-1_a': 2, 'gpu-1_b': 2, 'gpu-2_a': 1, 'gpu-2_b': 1}
    boot(cloud, record.uuid, flavor)


@pytest.mark.parametrize('flavor', ['two', 'vgpu'])
def test_a_further_server_gets_devices_that_no_other_member_has(
        cloud, flavor):
    """The server is created on the host of its siblings, while that host has
    free devices."""
    record = created(cloud, document({
        'name': 'node', 'flavor': flavor, 'location': 'nova/r1/gpu-1',
        'count': {'min': 1, 'desired': 1, 'max': 9}}))
    assert record.status == GroupStatus.PLANNED
    room = {'two': 2, 'vgpu': 4}[flavor]
    for number in range(room):
        server = cloud.create_server('node', flavor, {
            'group': record.uuid, 'member': 'node'})
        cloud.wait_for_status(server, 'ACTIVE')
        assert cloud.host_of(server) == 'gpu-1'
        assert sum(used(cloud).values()) == (number + 1) * 4 // room
    assert used(cloud) == {'gpu-1_a': 2, 'gpu-1_b': 2}
    refused = cloud.create_server('node', flavor, {
        'group': record.uuid, 'member': 'node'})
    assert 'no host has room' in cloud.fault_of(refused)
    assert used(cloud) == {'gpu-1_a': 2, 'gpu-1_b': 2}


def test_members_without_devices_are_held_in_one_request(cloud):
    record = created(cloud, document(node('small', 4)))
    assert all(row.place.allocation is None
               for row in cloud.table.members(record.uuid))
    assert not used(cloud)
