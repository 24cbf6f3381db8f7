# SPDX-License-Identifier: Apache-2.0
"""Server groups of Nova are converted to group documents."""

import pytest

from nova_holistic.client.server_group import document, NotImported
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.policies import load_policy_types

IDS = [f'5f0a2f6e-8f3c-4a45-9d0e-3d1c7be0a6d{number}' for number in range(4)]


def server(number, flavor='small', image='debian'):
    return {'id': IDS[number], 'image': image and {'id': image},
            'flavor': {'original_name': flavor}}


def group(policy='anti-affinity', **rules):
    return {'id': 'g', 'name': 'apart', 'policy': policy, 'rules': rules}


def test_servers_of_a_flavor_become_one_counted_member():
    found = document(group(max_server_per_host=2), [
        server(0), server(1, 'a small one'), server(2), server(3, image='')])
    assert found == {
        'name': 'apart',
        'policies': [{'type': 'anti-affinity', 'max_per_domain': 2}],
        'members': [
            {'name': 'small', 'count': 2, 'flavor': 'small'},
            {'name': 'a-small-one', 'count': 1, 'flavor': 'a small one'},
            {'name': 'small-volume', 'count': 1, 'flavor': 'small',
             'boot_from_volume': True}],
        'adopt': {'small-0': IDS[0], 'a-small-one-0': IDS[1],
                  'small-1': IDS[2], 'small-volume-0': IDS[3]}}
    parse_group(found, load_policy_types())


def test_flavors_with_similar_names_get_different_members():
    found = document(group(), [server(0, 'a b'), server(1, 'a-b')], 'mine')
    assert found['name'] == 'mine'
    assert [each['name'] for each in found['members']] == ['a-b', 'a-b_2']
    parse_group(found, load_policy_types())


@pytest.mark.parametrize('flavors, expected', [
    (['gpu', 'gpu', 'gpu-1'], ['gpu', 'gpu-1_2']),
    (['gpu-1', 'gpu', 'gpu'], ['gpu-1', 'gpu_2']),
    (['gpu-1', 'gpu', 'gpu-1'], ['gpu-1', 'gpu']),
    (['gpu', 'gpu-0', 'gpu-0-0'], ['gpu', 'gpu-0_2', 'gpu-0-0'])])
def test_a_flavor_may_be_named_like_a_server_of_another_member(
        flavors, expected):
    found = document(group(), [
        server(number, flavor) for number, flavor in enumerate(flavors)])
    assert [each['name'] for each in found['members']] == expected
    assert sorted(found['adopt'].values()) == IDS[:len(flavors)]
    parse_group(found, load_policy_types())


@pytest.mark.parametrize('policy, expected', [
    ('affinity', {'type': 'affinity'}),
    ('anti-affinity', {'type': 'anti-affinity', 'max_per_domain': 1}),
    ('soft-affinity', {'type': 'soft-affinity'}),
    ('soft-anti-affinity', {'type': 'soft-anti-affinity'})])
def test_the_policy_is_kept(policy, expected):
    found = document(group(policy), [server(0)])
    assert found['policies'] == [expected]
    parse_group(found, load_policy_types())


@pytest.mark.parametrize('servers, policy', [
    ([], 'affinity'), ([server(0)], 'legacy')])
def test_an_invalid_server_group_is_refused(servers, policy):
    with pytest.raises(NotImported, match='server group g has'):
        document(group(policy), servers)
