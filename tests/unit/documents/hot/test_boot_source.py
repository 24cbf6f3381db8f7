# SPDX-License-Identifier: Apache-2.0
"""The source from which a server boots, and server groups outside the
template."""

import pytest

from nova_holistic.documents.hot.conversion import convert
from tests.unit.documents.hot.templates import (
    param, read, refusal, server, servers, template)

UUID = '11111111-2222-3333-4444-555555555555'
VOLUME = {'boot_index': 0, 'volume_id': {'get_resource': 'volume'}}


def wanted(**properties):
    (member,) = read(template(
        {'a': server(**properties)},
        parameters={'image': {'type': 'string', 'default': 'cirros'},
                    'index': {'type': 'number', 'default': 0}})
    ).all_members()
    return member.requirements


@pytest.mark.parametrize('image, found', [
    ('cirros', 'cirros'), (param('image'), 'cirros'), (None, None),
    ({'get_resource': 'made-with-the-stack'}, None),
    ({'get_attr': ['other', 'image']}, None)])
def test_a_known_image_is_read(image, found):
    assert wanted(image=image).image == found
    assert not wanted(image=image).boot_from_volume


@pytest.mark.parametrize('device', [
    VOLUME, {**VOLUME, 'boot_index': '0'},
    {**VOLUME, 'boot_index': param('index')},
    {'boot_index': 0, 'snapshot_id': UUID}])
def test_a_device_of_boot_index_0_is_a_root_volume(device):
    found = wanted(block_device_mapping_v2=[
        {'boot_index': 1, 'volume_id': UUID}, device])
    assert found.boot_from_volume
    assert found.image is None


def test_a_root_volume_may_be_made_of_an_image():
    found = wanted(block_device_mapping_v2=[
        {'boot_index': 0, 'image': param('image'), 'volume_size': 5}])
    assert (found.image, found.boot_from_volume) == ('cirros', True)


@pytest.mark.parametrize('device, image', [
    ({'image': 'cirros', 'volume_size': 20}, 'cirros'),
    ({'image_id': 'cirros', 'volume_size': 20}, 'cirros'),
    ({'image': param('image'), 'boot_index': None}, 'cirros'),
    ({'volume_id': UUID}, None), ({'snapshot_id': UUID}, None),
    ({'volume_id': {'get_resource': 'volume'}}, None)])
def test_a_volume_without_a_boot_index_is_the_root_volume(device, image):
    # Heat sends boot_index 0 for it, and -1 for swap and ephemeral disks.
    found = wanted(block_device_mapping_v2=[{'swap_size': 1}, device])
    assert (found.image, found.boot_from_volume) == (image, True)


@pytest.mark.parametrize('name', ['vda', '/dev/vda'])
def test_vda_of_the_older_property_is_the_root_volume(name):
    devices = [{'device_name': 'vdb', 'volume_id': UUID},
               {'device_name': name, 'volume_id': UUID}]
    assert wanted(block_device_mapping=devices).boot_from_volume
    assert not wanted(block_device_mapping=devices[:1]).boot_from_volume
    assert not wanted(block_device_mapping=devices,
                      image='cirros').boot_from_volume


@pytest.mark.parametrize('devices', [
    [], None, [{'boot_index': 1, 'volume_id': UUID}], [{'swap_size': 1}],
    [{'boot_index': -1, 'volume_id': UUID}], {'get_attr': ['x', 'y']},
    [{'get_attr': ['x', 'y']}], ['nothing'], 'nothing',
    [{'ephemeral_size': 5}], [{'image': ''}],
    [{'boot_index': {'get_attr': ['x', 'y']}}]])
def test_other_devices_are_no_root_volumes(devices):
    found = wanted(image='cirros', block_device_mapping_v2=devices)
    assert (found.image, found.boot_from_volume) == ('cirros', False)


@pytest.mark.parametrize('key', [
    'block_device_mapping', 'block_device_mapping_v2'])
@pytest.mark.parametrize('devices', [
    {'repeat': {'for_each': {'%v%': ['a', 'b']}, 'template': {
        'volume_id': '%v%'}}}, [{'if': ['made', VOLUME, {'swap_size': 1}]}]])
def test_a_server_without_an_image_boots_from_one_of_its_volumes(key, devices):
    # Nova refuses any other server without an image.
    assert wanted(**{key: devices}).boot_from_volume


def test_a_root_volume_follows_a_device_of_a_function():
    found = wanted(image='cirros', block_device_mapping_v2=[
        {'get_attr': ['x', 'y']}, VOLUME])
    assert (found.image, found.boot_from_volume) == ('cirros', True)


def test_servers_of_a_group_have_their_own_images():
    document = convert(template({'web': servers(
        2, image='image-%index%')}), {}).document
    (nested,) = document['groups']
    assert [m['image'] for m in nested['members']] == ['image-0', 'image-1']


def test_a_server_group_outside_the_template_is_named_by_its_uuid():
    hints = {'group': UUID}
    assert wanted(scheduler_hints=hints).server_group == UUID


def test_a_hint_without_a_server_group_is_refused_with_its_position():
    place, message = refusal(template({
        'a': server(scheduler_hints={'group': 'friends'})}))
    assert place == 'resources.a.properties.scheduler_hints.group'
    assert 'the UUID of a server group' in message
