# SPDX-License-Identifier: Apache-2.0
"""Relationships in a group document, and the positions of their errors."""

import copy

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.source import text
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies import load_policy_types
from nova_holistic.policies.relationship_affinity import RelationshipAffinity

TYPES = load_policy_types()

SHOP = text.load('''
name: shop
members: [{name: gateway, resources: {VCPU: 1}}]
groups:
  - name: web
    members: [{name: server, count: 3, resources: {VCPU: 1}}]
  - name: store
    groups:
      - name: db
        members: [{name: node, count: 2, resources: {VCPU: 1}}]
    members: [{name: proxy, resources: {VCPU: 1}}]
''')


def shop(*relationships):
    return {**copy.deepcopy(SHOP), 'relationships': list(relationships)}


def affinity(*between, **keys):
    return {'type': 'affinity', 'between': list(between), **keys}


def sides(*between):
    group = parse_group(shop(affinity(*between)), TYPES)
    return [[m.path for m in side] for side in
            group.relationships[0].sides(next(group.scopes()))]


def refusal(document):
    with pytest.raises(InvalidDocument) as caught:
        parse_group(document, TYPES)
    return caught.value


def test_relationships_are_read_with_their_keys_weight_and_place():
    group = parse_group(shop(
        affinity('web', 'store', level='rack', weight=5),
        {'type': 'bandwidth', 'mbps': 200, 'between': ['web', 'gateway']}),
        TYPES)
    assert group.relationships == (
        RelationshipAffinity(between=('web', 'store'), level='rack',
                             weight=5.0),
        Bandwidth(between=('web', 'gateway'), mbps=200, level='host'))
    assert group.relationships[1].place == 'relationships[1]'
    assert group.relationships[0].title == 'affinity between web and store'


def test_a_side_may_be_a_group_a_member_or_servers_of_a_count():
    assert sides('store', 'gateway') == [
        ['store/proxy', 'store/db/node-0', 'store/db/node-1'], ['gateway']]
    assert sides('store/db/node', 'web/server-2') == [
        ['store/db/node-0', 'store/db/node-1'], ['web/server-2']]
    assert sides('store/db/node-1', 'store/proxy') == [
        ['store/db/node-1'], ['store/proxy']]


def test_paths_are_relative_to_the_group_of_the_relationship():
    document = copy.deepcopy(SHOP)
    document['groups'][1]['relationships'] = [affinity('db', 'proxy')]
    store = list(parse_group(document, TYPES).scopes())[2]
    assert [[m.path for m in side] for side in
            store.group.relationships[0].sides(store)] == [
        ['store/db/node-0', 'store/db/node-1'], ['store/proxy']]
    document['groups'][1]['relationships'] = [affinity('db', 'web')]
    assert str(refusal(document)) == (
        "groups[1].relationships[0].between[1]: there is no group or member "
        "'web' in the group")


@pytest.mark.parametrize('path', [
    'cache', 'server', 'web/server-3', 'web/serve', 'store/node', 'shop/web',
    'store/db/node-0/x'])
def test_an_unknown_path_is_named(path):
    error = refusal(shop(affinity('gateway', 'web'),
                         affinity(path, 'web')))
    assert error.place == 'relationships[1].between[0]'
    assert repr(path) in error.message


@pytest.mark.parametrize('one, other', [
    ('web', 'web'), ('web', 'web/server'), ('web/server-1', 'web'),
    ('web/server', 'web/server-0'), ('store/db', 'store'),
    ('store/db/node-0', 'store')])
def test_sides_with_a_member_in_common_are_refused(one, other):
    error = refusal(shop(affinity(one, other)))
    assert error.place == 'relationships[0].between[1]'
    assert error.message == (
        f'{other!r} and {one!r} have members in common')


@pytest.mark.parametrize('between, place', [
    ([], ''), (['web'], ''), (['web', 'store', 'gateway'], ''),
    ('web', ''), ({'web': 'store'}, ''), (None, ''),
    (['web', 7], '[1]'), (['/web', 'store'], '[0]'), (['web', ''], '[1]'),
    (['web', 'store//db'], '[1]'), (['web', 'x' * 701], '[1]')])
def test_a_relationship_needs_exactly_two_paths(between, place):
    error = refusal(shop({'type': 'affinity', 'between': between}))
    assert error.place == f'relationships[0].between{place}'


@pytest.mark.parametrize('relationship, place, message', [
    ({'type': 'affinity'}, '', 'between is missing'),
    ({'type': 'bandwidth', 'between': ['web', 'store']}, '',
     'mbps is missing'),
    ({'type': 'bandwidth', 'between': ['web', 'store'], 'mbps': 0}, '.mbps',
     'must be at least 1, not 0'),
    ({'type': 'bandwidth', 'between': ['web', 'store'], 'mbps': 1.5},
     '.mbps', 'must be a whole number, not 1.5'),
    (affinity('web', 'store', mbps=5), '.mbps',
     'unknown key; known are between, level, type, weight'),
    (affinity('web', 'store', weight=-1), '.weight',
     'must be more than 0, not -1'),
    ({'type': 'spread', 'between': ['web', 'store']}, '.type',
     "relationship type 'spread' is not supported; known are affinity, "
     'anti-affinity, bandwidth'),
])
def test_an_invalid_key_names_its_position(relationship, place, message):
    error = refusal(shop(relationship))
    assert error.place == f'relationships[0]{place}'
    assert error.message == message


def test_a_policy_with_the_key_between_is_refused():
    document = {**SHOP, 'policies': [affinity('web', 'store')]}
    assert refusal(document).place == 'policies[0].between'


def test_without_relationship_types_every_type_is_unknown():
    with pytest.raises(InvalidDocument, match='known are none'):
        parse_group(shop(affinity('web', 'store')), TYPES.policies)
