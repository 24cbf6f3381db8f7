# SPDX-License-Identifier: Apache-2.0
"""The root disks of servers whose members are derived from a template."""

import pytest

from nova_holistic.heat.templates.template_servers import description

PLACE = ('resources', 'web', 'properties')


@pytest.mark.parametrize('device, image', [
    ({'volume_id': 'v1'}, None),
    ({'snapshot_id': 's1', 'volume_size': 20}, None),
    ({'image': 'cirros', 'volume_size': 20}, 'cirros'),
    ({'image_id': 'cirros', 'volume_size': 20}, 'cirros'),
    ({'image': 'cirros', 'boot_index': 0}, 'cirros')])
def test_a_volume_is_the_root_disk_by_default(device, image):
    found = description({'flavor': 'small',
                         'block_device_mapping_v2': [device]}, PLACE)
    assert found == {'flavor': 'small', 'boot_from_volume': True,
                     **({'image': image} if image else {})}


@pytest.mark.parametrize('device', [
    {'swap_size': 512}, {'ephemeral_size': 1},
    {'volume_id': 'v1', 'boot_index': -1},
    {'volume_id': 'v1', 'boot_index': '1'}])
def test_other_devices_are_no_root_disks(device):
    found = description({'flavor': 'small', 'image': 'cirros',
                         'block_device_mapping_v2': [device]}, PLACE)
    assert found == {'flavor': 'small', 'image': 'cirros'}


@pytest.mark.parametrize('name', ['vda', '/dev/vda'])
def test_an_image_takes_precedence_over_the_older_property(name):
    devices = [{'device_name': name, 'volume_id': 'v1'}]
    found = description({'flavor': 'small', 'image': 'cirros',
                         'block_device_mapping': devices}, PLACE)
    assert found == {'flavor': 'small', 'image': 'cirros'}
    found = description({'flavor': 'small',
                         'block_device_mapping': devices}, PLACE)
    assert found == {'flavor': 'small', 'boot_from_volume': True}
