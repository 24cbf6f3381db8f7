# SPDX-License-Identifier: Apache-2.0
"""Volumes and storage pools in documents."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups.volumes import (
    at_plan_time, has_volumes_at_plan_time)
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.inventories.writer import inventory_document
from nova_holistic.documents.source import text
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.storage_pools import with_pools
from nova_holistic.policies import load_policy_types

TYPES = load_policy_types()

POOLS = '''
levels: [rack, host]
hosts: [{name: c1, location: [r1], resources: {VCPU: {total: 4}}}]
pools:
  - name: s1@nfs#10.0.0.1:/vol
    location: [r1]
    labels: {feed: A}
    volume_types: [fast, safe]
    total_capacity_gb: 100.5
    reserved_percentage: 10
    max_over_subscription_ratio: 1.5
    thin_provisioning_support: true
    provisioned_capacity_gb: 20
    volumes: 3
  - {name: s2@ceph#slow, location: [r1], total_capacity_gb: infinite,
     enabled: false}
'''


def member(**keys):
    return {'name': 'm', **keys}


def volume(**keys):
    return member(kind='volume', **{'size': 5, **keys})


def mistakes(*members, **keys):
    with pytest.raises(InvalidDocument) as caught:
        parse_group({'name': 'g', 'members': list(members), **keys}, TYPES)
    return [str(each) for each in caught.value.mistakes]


@pytest.mark.parametrize('description, expected', [
    (member(kind='volume'), 'members[0]: size is missing'),
    (volume(size=0), 'members[0].size: must be at least 1, not 0'),
    (volume(size=True), 'members[0].size: must be a whole number, not true'),
    (volume(volume_type=''), 'members[0].volume_type: must be 1 to 255 '
     "characters, none of them a control character, not ''"),
    (member(kind='disk', size=1, flavor='f'),
     "members[0].kind: must be one of server, volume, not 'disk'"),
    (volume(flavor='small'),
     'members[0].flavor: only a server can have this key'),
    (volume(traits={}), 'members[0].traits: only a server can have this key'),
    (member(flavor='small', size=5),
     'members[0].size: only a volume can have this key (kind: volume)'),
    (member(kind='server', flavor='small', volume_type='x'),
     'members[0].volume_type: only a volume can have this key (kind: '
     'volume)'),
    (volume(count={'desired': 2}),
     'members[0].count: the number of volumes must be fixed'),
    (member(flavor='small', boot_volume='v'),
     "members[0].boot_volume: there is no volume 'v' among the members of "
     'the same group'),
    (member(flavor='small', boot_volume='m'),
     "members[0].boot_volume: there is no volume 'm' among the members of "
     'the same group'),
    (member(flavor='small', boot_volume='v', boot_from_volume=False),
     'members[0].boot_from_volume: must be true or absent, because the '
     'member has a boot_volume')])
def test_each_mistake_has_its_position(description, expected):
    assert mistakes(description) == [expected]


IMAGE = '155d900f-4e14-4e4c-a73d-069cbf4541e6'


@pytest.mark.parametrize('description, expected', [
    (volume(image=IMAGE), 'members[0].image: a volume can have this key only '
                          'with create_at_plan_time: true'),
    (volume(image='cirros', create_at_plan_time=True),
     'members[0].image: must be the UUID of an image'),
    (volume(image={}, create_at_plan_time=True),
     'members[0].image: must be the UUID of an image'),
    (member(flavor='small', create_at_plan_time=True),
     'members[0].create_at_plan_time: only a volume can have this key (kind: '
     'volume)')])
def test_mistakes_of_volumes_that_an_engine_creates(description, expected):
    assert mistakes(description) == [expected]


def test_an_engine_creates_the_volumes_with_the_key():
    document = {'name': 'g', 'members': [
        {'name': 'a', 'flavor': 'small'},
        {'name': 'b', 'kind': 'volume', 'size': 1}],
        'groups': [{'name': 'shard', 'count': 2, 'members': [
            {'name': 'c', 'kind': 'volume', 'size': 1, 'count': 2,
             'create_at_plan_time': True, 'image': IMAGE}]}]}
    group = parse_group(document, TYPES)
    assert at_plan_time(group) == ['shard-0/c-0', 'shard-0/c-1',
                                   'shard-1/c-0', 'shard-1/c-1']
    assert has_volumes_at_plan_time(document)
    assert has_volumes_at_plan_time({'group': document})
    assert not has_volumes_at_plan_time(
        {'name': 'g', 'members': document['members']})


def test_each_server_has_a_separate_boot_volume():
    root = {**volume(), 'name': 'root'}
    web = {'name': 'web', 'flavor': 'small', 'boot_volume': 'root'}
    assert mistakes({**web, 'count': 2}, {**root, 'count': 3}) == [
        "members[0].boot_volume: 'root' must have the same count and skip as "
        'its servers']
    assert mistakes(web, root, {**web, 'name': 'db'}) == [
        "members[2].boot_volume: 'root' is the boot volume of members[0] "
        'already']
    group = parse_group({'name': 'g', 'members': [
        {**web, 'count': 2}, {**root, 'count': 2}]}, TYPES)
    assert [each.requirements.boot_from_volume
            for each in group.members] == [True, False]


def test_the_number_of_groups_with_volumes_is_fixed():
    assert mistakes(member(flavor='small'), groups=[{
        'name': 'shard', 'count': {'desired': 1, 'max': 3},
        'members': [volume()]}]) == [
            'groups[0].count: the number of groups with volumes must be '
            'fixed']


def test_pools_offer_what_cinder_would():
    snapshot = parse_inventory(text.load(POOLS))
    assert [each.name for each in snapshot.hosts] == ['c1']
    first, second = snapshot.pools
    # (100.5 - 10) * 1.5 = 135.75, of which 20 are provisioned.
    assert first.inventories['VOLUME_GB'].free == 115
    assert (first.location, first.labels['feed'], first.servers) == (
        ('r1',), 'A', 3)
    assert (first.enabled, second.enabled) == (True, False)


def test_pools_survive_a_round_trip():
    snapshot = parse_inventory(text.load(POOLS))
    assert parse_inventory(inventory_document(snapshot)) == snapshot


@pytest.mark.parametrize('key, value, expected', [
    ('name', 'c1', "name: 'c1' is already the name of hosts[0]"),
    ('name', 's2@ceph#slow',
     "s2@ceph#slow' is already the name of pools[0]"),
    ('location', [], 'location: must have one name for each level above '
                     'host (rack), not 0'),
    ('labels', {'rack': 'x'}, 'labels.rack: is a level of the tree'),
    ('total_capacity_gb', 'much', 'total_capacity_gb: must be one of '
                                  "infinite, unknown, not 'much'"),
    ('total_capacity_gb', -1, 'total_capacity_gb: must be at least 0, not '
                              '-1'),
    ('total_capacity_gb', True, 'total_capacity_gb: must be a finite number, '
                                'not true'),
    ('free_capacity_gb', float('nan'), 'free_capacity_gb: must be a finite '
                                       'number'),
    ('reserved_percentage', 101, 'reserved_percentage: must be at most 100, '
                                 'not 101'),
    ('max_over_subscription_ratio', 0.5, 'max_over_subscription_ratio: must '
                                         'be at least 1, not 0.5'),
    ('volumes', 1.0, 'volumes: must be a whole number, not 1.0'),
    ('resources', {}, 'resources: unknown key')])
def test_a_mistake_in_a_pool_has_its_position(key, value, expected):
    document = text.load(POOLS)
    document['pools'][0][key] = value
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(document)
    assert len(caught.value.mistakes) == 1
    place = 'pools[1]' if 's2' in expected else 'pools[0]'
    assert str(caught.value).startswith(f'{place}.')
    assert expected in str(caught.value)


def test_an_unknown_volume_type_has_its_position():
    group = parse_group({'name': 'g', 'members': [
        volume(volume_type='fats')]}, TYPES)
    with pytest.raises(InvalidDocument) as caught:
        bind(group, with_pools(parse_inventory(text.load(POOLS))))
    assert str(caught.value) == (
        "members[0].volume_type: unknown volume type 'fats' (did you mean "
        "'fast'?)")
