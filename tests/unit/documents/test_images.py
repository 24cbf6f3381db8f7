# SPDX-License-Identifier: Apache-2.0
"""The image, root volume and server group of a member in group documents."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.policies import load_policy_types

TYPES = load_policy_types()
UUID = '11111111-2222-3333-4444-555555555555'
INVENTORY = {
    'levels': ['host'],
    'hosts': [{'name': 'a', 'resources': {'VCPU': {'total': 4}}}],
    'flavors': {'small': {'VCPU': 1}},
    'images': {'fast': {'trait:CUSTOM_FAST': 'required', 'min_ram': 512}}}


def shop(**keys):
    return {'name': 'shop', 'members': [
        {'name': 'a', 'flavor': 'small', **keys}]}


def requirements(document):
    return parse_group(document, TYPES).all_members()[0].requirements


def test_a_member_may_name_all_three():
    found = requirements(shop(image='cirros', boot_from_volume=True,
                              server_group=UUID))
    assert (found.image, found.boot_from_volume, found.server_group) == (
        'cirros', True, UUID)


def test_an_image_may_be_described_by_its_properties():
    image = requirements(shop(image={
        'trait:CUSTOM_FAST': 'required', 'hw_cpu_cores': 2, 'min_disk': 1,
        'os_secure_boot': 'required', 'disk_format': 'qcow2'})).image
    assert (image.min_disk, image.min_ram, image.disk_format) == (
        1, 0, 'qcow2')
    assert image.required_traits == {'CUSTOM_FAST'}
    assert image.as_extra_specs['os:secure_boot'] == 'required'
    assert image.properties['hw_cpu_cores'] == '2'


@pytest.mark.parametrize('keys, place, message', [
    ({'image': ''}, 'members[0].image', 'must be 1 to 255 characters'),
    ({'image': 3}, 'members[0].image', 'must be text, not 3'),
    ({'image': {'min_disk': -1}}, 'members[0].image.min_disk', 'at least 0'),
    ({'image': {'x': [1]}}, 'members[0].image.x', 'must be text, a number'),
    ({'image': {'trait:lower': 'required'}},
     "members[0].image['trait:lower']", 'is not the name of a trait'),
    ({'image': {'trait:CUSTOM_A': 'forbidden'}},
     "members[0].image['trait:CUSTOM_A']", "must be 'required'"),
    ({'boot_from_volume': 'yes'}, 'members[0].boot_from_volume',
     'must be true or false'),
    ({'server_group': 'friends'}, 'members[0].server_group',
     'must be a UUID'),
])
def test_a_mistake_is_refused_with_its_position(
        keys, place, message):
    with pytest.raises(InvalidDocument) as caught:
        requirements(shop(**keys))
    assert caught.value.place == place
    assert message in caught.value.message


WRONG = {'trait:low': 'required', 'trait:CUSTOM_A': 1}


def test_all_mistakes_of_an_image_are_reported():
    with pytest.raises(InvalidDocument) as caught:
        requirements(shop(image=WRONG))
    assert [each.place for each in caught.value.mistakes] == [
        "members[0].image['trait:low']", "members[0].image['trait:CUSTOM_A']"]


def test_all_mistakes_of_images_in_an_inventory_are_reported():
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory({**INVENTORY, 'images': {
            'a': WRONG, 'b': {'trait:': 'required'}},
            'links': [{'domain': 'nowhere', 'uplink_mbps': 1}]})
    assert [each.place for each in caught.value.mistakes] == [
        'links[0].domain', "images.a['trait:low']",
        "images.a['trait:CUSTOM_A']", "images.b['trait:']"]


def test_a_root_volume_needs_a_flavor():
    with pytest.raises(InvalidDocument) as caught:
        requirements({'name': 'shop', 'members': [
            {'name': 'a', 'resources': {'VCPU': 1},
             'boot_from_volume': True}]})
    assert caught.value.place == 'members[0].boot_from_volume'


def test_an_inventory_document_may_describe_images():
    snapshot = parse_inventory(INVENTORY)
    bound = bind(parse_group(shop(image='fast'), TYPES), snapshot)
    assert bound.all_members()[0].requirements.required_traits == {
        'CUSTOM_FAST'}
    with pytest.raises(InvalidDocument, match='unknown image'):
        bind(parse_group(shop(image='slow'), TYPES), snapshot)


def test_without_images_an_inventory_document_has_no_image():
    snapshot = parse_inventory({
        key: value for key, value in INVENTORY.items() if key != 'images'})
    bound = bind(parse_group(shop(image='slow'), TYPES), snapshot)
    assert not bound.all_members()[0].requirements.required_traits
