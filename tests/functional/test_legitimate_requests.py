# SPDX-License-Identifier: Apache-2.0
"""Requests that differ from their member only by values that Nova adds are
accepted.

A server that boots from a volume requests no root disk, an image requests
traits, and Nova's API writes its default zone into requests without a zone.
"""

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.table.records import GroupStatus, MemberState

HOSTS = (
    EmbeddedHost('cmp-0', zone='az1', rack='r1'),
    EmbeddedHost('cmp-1', zone='az1', rack='r2', traits=('CUSTOM_FAST',)),
    EmbeddedHost('cmp-2', zone='az2', rack='r1'))
NO_DISK = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 0}
SWAP_ONLY = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 3}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        cloud.compute.post('/flavors', json={'flavor': {
            'name': 'parts', 'vcpus': 2, 'ram': 2048, 'disk': 10,
            'OS-FLV-EXT-DATA:ephemeral': 2, 'swap': 1000}})
        yield cloud


@pytest.fixture
def cloud(running):
    """The cloud, which must be unchanged after the test."""
    yield running
    running.conf.clear_override('default_schedule_zone')
    running.image.is_unavailable = False
    running.clear()


@pytest.fixture
def fast_image(running):
    image = running.image.create('fast-image', {
        'trait:CUSTOM_FAST': 'required', 'hw_rng_model': 'virtio'})
    yield image
    running.image.delete(image)


def plan(cloud, *members, **keys):
    record = cloud.planner.create(
        {'name': 'shop', 'members': list(members), **keys},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    return record.uuid


def host_of(cloud, server):
    cloud.wait_for_status(server, 'ACTIVE')
    return cloud.host_of(server)


@pytest.mark.parametrize('flavor, used', [
    ('small', NO_DISK), ('parts', SWAP_ONLY)])
def test_a_server_boots_from_a_volume_at_its_planned_place(
        cloud, flavor, used):
    group = plan(cloud, {'name': 'a', 'flavor': flavor,
                         'boot_from_volume': True,
                         'availability_zone': 'az2'})
    assert cloud.used() == {'cmp-2': used}
    server = cloud.boot_from_volume(
        'a', flavor, {'group': group, 'member': 'a'})
    assert host_of(cloud, server) == 'cmp-2'
    assert cloud.used() == {'cmp-2': used}
    assert cloud.row(group, 'a').state == MemberState.CLAIMED


def test_a_root_volume_that_is_not_described_is_refused_with_advice(cloud):
    group = plan(cloud, {'name': 'a', 'flavor': 'small'})
    server = cloud.boot_from_volume(
        'a', 'small', {'group': group, 'member': 'a'})
    assert ('for a root volume, add boot_from_volume to the member'
            in cloud.fault_of(server))
    group = plan(cloud, {'name': 'a', 'flavor': 'small',
                         'boot_from_volume': True})
    server = cloud.create_server(
        'a', 'small', {'group': group, 'member': 'a'})
    assert ('without a root volume, remove boot_from_volume from the member'
            in cloud.fault_of(server))


@pytest.mark.parametrize('by', ['name', 'UUID', 'properties'])
def test_traits_that_the_image_requires_are_planned_for(
        cloud, fast_image, by):
    image = {'name': 'fast-image', 'UUID': fast_image,
             'properties': {'trait:CUSTOM_FAST': 'required'}}[by]
    group = plan(cloud, {'name': 'a', 'flavor': 'small', 'image': image,
                         'count': 2})
    for name in 'a-0', 'a-1':
        assert cloud.row(group, name).place.host == 'cmp-1'
        server = cloud.create_server(
            name, 'small', {'group': group, 'member': name},
            imageRef=fast_image)
        assert host_of(cloud, server) == 'cmp-1'


@pytest.mark.parametrize('image, message', [
    ('nothing', "members[0].image: unknown image 'nothing'"),
    ({'min_ram': 4096}, 'members[0].image: the image needs 4096 MiB of '
     'memory; flavor small has 2048'),
    ({'min_disk': 11}, 'members[0].image: the image needs 11 GiB of root '
     'disk; flavor small has 10'),
    ({'hw_cpu_policy': 'mixed'}, 'property hw:cpu_policy=mixed: Placement '
     'does not know'),
])
def test_an_image_that_does_not_do_is_refused_with_its_place(
        cloud, image, message):
    with pytest.raises(InvalidDocument) as caught:
        plan(cloud, {'name': 'a', 'flavor': 'small', 'image': image})
    assert message in str(caught.value)


def test_a_private_image_of_another_project_is_unknown(cloud):
    image = cloud.image.create('secret', visibility='private', owner='other')
    with pytest.raises(InvalidDocument, match='unknown image'):
        plan(cloud, {'name': 'a', 'flavor': 'small', 'image': 'secret'})
    cloud.image.delete(image)


def test_while_glance_is_unavailable_the_group_names_the_waiting_member(cloud):
    cloud.image.is_unavailable = True
    record = cloud.planner.create(
        {'name': 'shop', 'members': [
            {'name': 'a', 'flavor': 'small', 'image': 'any'}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.ERROR
    (reason,) = record.reasons
    assert reason['at'] == 'members[0].image'
    assert reason['message'] == "image 'any' cannot be read now"


def test_nova_s_default_zone_does_not_contradict_the_member(cloud):
    cloud.conf.set_override('default_schedule_zone', 'az1')
    group = plan(
        cloud, {'name': 'zoned', 'flavor': 'small',
                'availability_zone': 'az2'},
        {'name': 'placed', 'flavor': 'small', 'location': 'az2/r1'})
    for name in 'zoned', 'placed':
        server = cloud.create_server(
            name, 'small', {'group': group, 'member': name})
        assert host_of(cloud, server) == 'cmp-2'


def test_a_member_that_names_no_place_is_planned_in_the_default_zone(cloud):
    cloud.conf.set_override('default_schedule_zone', 'az2')
    group = plan(cloud, {'name': 'a', 'flavor': 'small', 'count': 3})
    assert {row.place.host for row in cloud.table.members(group)} == {'cmp-2'}
    server = cloud.create_server(
        'a', 'small', {'group': group, 'member': 'a-1'})
    assert host_of(cloud, server) == 'cmp-2'


def test_a_default_zone_without_an_aggregate_restricts_no_hosts(
        cloud, fast_image):
    """Only cmp-2 is outside all zones, and only cmp-1 has the trait."""
    cloud.conf.set_override('default_schedule_zone', 'nova')
    (zone,) = (each['id'] for each in cloud.compute.get(
        '/os-aggregates').json()['aggregates'] if each['name'] == 'az2')
    cloud.act_on_aggregate(zone, 'remove_host', host='cmp-2')
    try:
        group = plan(cloud, {'name': 'a', 'flavor': 'small',
                             'image': fast_image})
        for pointer in {'group': group, 'member': 'a'}, None:
            server = cloud.create_server('a', 'small', pointer,
                                         imageRef=fast_image)
            assert host_of(cloud, server) == 'cmp-1'
            cloud.delete_server(server)
    finally:
        cloud.act_on_aggregate(zone, 'add_host', host='cmp-2')


def test_policies_about_zones_count_more_than_the_default_zone(cloud):
    cloud.conf.set_override('default_schedule_zone', 'az1')
    group = plan(cloud, {'name': 'a', 'flavor': 'small', 'count': 2},
                 policies=[{'type': 'anti-affinity', 'level': 'az'}])
    assert 'cmp-2' in {row.place.host for row in cloud.table.members(group)}


def test_a_member_outside_the_default_zone_can_move_in_its_own(cloud):
    cloud.conf.set_override('default_schedule_zone', 'az2')
    group = plan(cloud, {'name': 'a', 'flavor': 'small',
                         'location': 'az1/r1'})
    server = cloud.create_server(
        'a', 'small', {'group': group, 'member': 'a'})
    assert host_of(cloud, server) == 'cmp-0'
    assert cloud.migrate(server) == 'cmp-1'


@pytest.mark.parametrize('move', ['migrate', 'live_migrate'])
def test_a_member_outside_the_default_zone_can_move_to_a_named_host(
        cloud, move):
    cloud.conf.set_override('default_schedule_zone', 'az2')
    group = plan(cloud, {'name': 'a', 'flavor': 'small',
                         'location': 'az1/r1'})
    server = cloud.create_server(
        'a', 'small', {'group': group, 'member': 'a'})
    assert host_of(cloud, server) == 'cmp-0'
    # The hosts are in the default zone and in the zone of the member.
    for host in 'cmp-2', 'cmp-1':
        assert getattr(cloud, move)(server, host=host) == host
