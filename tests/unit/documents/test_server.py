# SPDX-License-Identifier: Apache-2.0
"""The key ``server`` of a member description, and the create requests that
result."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.servers.create_request import (
    create_body, member_description, MemberServer)
from nova_holistic.documents.servers.positions import server_positions
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies import load_policy_types

TYPES = load_policy_types()
IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
OTHER = '76fa36fc-c930-4bf3-8c8a-ea2a2420deb6'
GROUP = '11111111-2222-3333-4444-555555555555'
VOLUME = {'boot_index': 0, 'uuid': OTHER, 'source_type': 'volume',
          'destination_type': 'volume'}


def shop(server, **keys):
    member = {'name': 'a', 'flavor': 'small', 'server': server, **keys}
    return {'name': 'shop', 'members': [
        {key: value for key, value in member.items() if value is not None}]}


def image(**keys):
    return {'imageRef': IMAGE, **keys}


def mistakes(document):
    with pytest.raises(InvalidDocument) as caught:
        parse_group(document, TYPES)
    return [str(each) for each in caught.value.mistakes]


@pytest.mark.parametrize('server, keys', [
    (image(), {}),
    (image(name='web-{index}', networks='none'), {'count': 2}),
    (image(networks=[{'uuid': OTHER, 'fixed_ip': '10.0.0.4'},
                     {'port': OTHER, 'tag': 'nic'}]), {}),
    (image(user_data='I2Nsb3VkLWNvbmZpZwo=', key_name='mine',
           metadata={'role': 'web'}, config_drive=True, tags=['blue'],
           security_groups=[{'name': 'default'}], description='shop'), {}),
    ({'block_device_mapping_v2': [VOLUME]}, {'boot_from_volume': True}),
    ({}, {'image': IMAGE}),
    (image(), {'image': IMAGE.upper()}),
    (image(flavorRef='7'), {'flavor': None, 'resources': {'VCPU': 1}}),
])
def test_a_member_may_have_the_request_of_its_server(server, keys):
    with_server = parse_group(shop(server, **keys), TYPES)
    assert with_server == parse_group(shop(None, **keys), TYPES)


@pytest.mark.parametrize('server, keys, expected', [
    ('cirros', {}, 'members[0].server: must be a mapping'),
    ({}, {}, 'members[0].server: must have either imageRef or '
     'block_device_mapping_v2'),
    (image(imageRef='cirros'), {},
     "members[0].server.imageRef: must be the UUID of an image, not 'cirros'"),
    (image(colour='red'), {}, 'members[0].server.colour: unknown key'),
    (image(key_nam='me'), {}, "(did you mean 'key_name'?)"),
    (image(flavorRef='1'), {}, 'members[0].server.flavorRef: must not be '
     'given: the member description names the flavor'),
    (image(), {'flavor': None, 'resources': {'VCPU': 1}},
     'members[0].server: flavorRef is missing'),
    (image(availability_zone='nova'), {},
     'members[0].server.availability_zone: must not be given: the member '
     'description names the zone'),
    (image(host='a'), {}, 'members[0].server.host: must not be given'),
    (image(min_count=2), {}, 'server.min_count: must not be given'),
    (image(max_count=2), {}, 'server.max_count: must not be given'),
    (image(adminPass='x'), {}, 'server.adminPass: must not be given'),
    (image(networks=[{'uuid': 'x'}]), {},
     "members[0].server.networks[0].uuid: must be a UUID, not 'x'"),
    (image(networks=['x']), {}, 'members[0].server.networks[0]: must be'),
    (image(networks='x'), {}, 'members[0].server.networks: must be a list of '
     'networks, or auto or none'),
    (image(user_data='YQ='), {},
     'members[0].server.user_data: must be Base64'),
    (image(metadata={'a/b': 'c'}), {}, "server.metadata['a/b']: must be"),
    (image(metadata={'a': 1}), {}, 'members[0].server.metadata.a: must be'),
    (image(metadata={'holistic_group': 'a'}), {},
     'members[0].server.metadata.holistic_group: must not be given'),
    (image(tags=['a,b']), {}, 'members[0].server.tags[0]: must be'),
    (image(tags=['a'] * 50), {}, 'members[0].server.tags: must be a list of '
     'at most 49'),
    (image(name='{node}'), {}, "members[0].server.name: unknown variable "
     "'node'; known are group, index, member, path"),
    (image(name='{index}'), {}, 'members[0].server.name: has an index, and '
     'the member has no count'),
    (image(), {'image': OTHER}, 'members[0].server.imageRef: is not '
     'the image of the member description'),
    ({'block_device_mapping_v2': [VOLUME]}, {},
     'members[0].server.block_device_mapping_v2: the root disk is a volume'),
    (image(), {'boot_from_volume': True},
     'members[0].server: the member description contains boot_from_volume'),
])
def test_a_wrong_request_is_an_error_with_its_position(
        server, keys, expected):
    assert expected in mistakes(shop(server, **keys))[0]


def test_all_mistakes_of_a_request_are_reported():
    found = mistakes(shop(image(host='a', colour='red', key_name='')))
    assert [each.partition(':')[0] for each in found] == [
        'members[0].server.host', 'members[0].server.colour',
        'members[0].server.key_name']


def server(description, path='a', group='shop'):
    return MemberServer(GROUP, group, path, description)


def test_the_create_points_at_the_place_of_the_member():
    found = create_body(server({
        'name': 'a', 'flavor': 'small', 'availability_zone': 'az1',
        'server_group': OTHER, 'server': image(
            networks='none', metadata={'role': 'web'}, tags=['blue'])}), '42')
    assert found == {
        'server': {
            'name': 'shop-a', 'flavorRef': '42', 'imageRef': IMAGE,
            'availability_zone': 'az1', 'networks': 'none',
            'metadata': {'role': 'web', 'holistic_group': GROUP,
                         'holistic_member': 'a'},
            'tags': ['blue', f'holistic_group={GROUP}']},
        'os:scheduler_hints': {
            'holistic_group': GROUP, 'holistic_member': 'a', 'group': OTHER}}


def test_a_create_names_the_image_of_the_member_and_all_networks():
    found = create_body(server({'name': 'a', 'flavor': 'small',
                                'image': IMAGE, 'server': {}}), '1')
    assert found['server']['imageRef'] == IMAGE
    assert found['server']['networks'] == 'auto'


@pytest.mark.parametrize('template, path, group, name', [
    (None, 'db/node-3', 'shop', 'shop-db-node-3'),
    ('{member}.example.org', 'db/node-3', 'shop', 'node-3.example.org'),
    ('{group}_{index}_{path}', 'db/node-3', 'shop', 'shop_3_db-node-3'),
    (None, 'node-3', ' shop\u2028\U0001f600 ', 'shop-- -node-3'),
    ('{', 'node-3', 'shop', '{'),
    (' ', 'node-3', 'shop', '-'),
])
def test_the_names_of_servers_are_valid(template, path, group, name):
    request = {} if template is None else {'name': template}
    assert server({'name': 'node', 'count': 4, 'server': request},
                  path, group).name == name


def test_long_names_remain_different():
    names = {server({'name': 'node', 'count': 4, 'server': {}},
                    f'{"x" * 300}/node-{number}').name for number in range(4)}
    assert len(names) == 4
    assert {len(name) for name in names} == {255}


def test_the_description_of_a_member_is_found_by_its_path():
    node = {'name': 'node', 'count': {'min': 0, 'desired': 1, 'max': 3}}
    web, web_0 = {'name': 'web'}, {'name': 'web-0x', 'count': 2}
    document = {'group': {
        'name': 'shop', 'members': [web, web_0], 'groups': [
            {'name': 'db', 'count': 2, 'groups': [
                {'name': 'inner', 'members': [node]}]}]}}
    for path, expected in (
            ('web', web), ('web-0x-1', web_0), ('db-1/inner/node-2', node),
            ('db/inner/node-2', None), ('db-1/node-2', None), ('x', None),
            ('db-1/inner/node', None)):
        assert member_description(document, path) is expected


def test_positions_of_requests_in_an_unchecked_document():
    assert list(server_positions({
        'members': [1, {'server': 1}, {}], 'groups': [
            3, {'members': [{'server': {}}], 'groups': {}}]})) == [
                'members[1].server', 'groups[1].members[0].server']
    assert not list(server_positions([]))
