# SPDX-License-Identifier: Apache-2.0
"""The section ``groups``: resources are members of groups with policies."""

from nova_holistic.documents.hot.conversion import convert
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.members.bounds import Bounds
import pytest

from tests.unit.builders import two_racks
from tests.unit.documents.hot.templates import (
    hint, param, paths, read, refusal, server, server_group, servers,
    template)


def sides(group, path):
    scope = next(s for s in group.scopes() if s.path == path)
    relationship, = scope.group.relationships
    return [[m.path for m in side] for side in relationship.sides(scope)]


def test_unlisted_servers_stay_in_the_top_level_group():
    document = template(
        {'web': servers(2), 'db_1': server(), 'db_2': server(),
         'alone': server()},
        {'shop': {'groups': {'front': {'members': ['web']},
                             'db': {'members': ['db_2', 'db_1']}}}})
    assert paths(document) == [
        'alone', 'shop/front/web-0', 'shop/front/web-1', 'shop/db/db_2',
        'shop/db/db_1']


def test_groups_may_be_lists_as_in_group_documents():
    as_mapping = template({'a': server(), 'b': server()}, {
        'shop': {'members': ['a'], 'groups': {'db': {'members': ['b']}}}})
    as_list = template({'a': server(), 'b': server()}, [
        {'name': 'shop', 'members': ['a'],
         'groups': [{'name': 'db', 'members': ['b']}]}])
    assert read(as_list) == read(as_mapping)


def test_policies_are_those_of_group_documents():
    group = read(template(
        {'a': server(), 'b': server()},
        {'shop': {'members': ['a', 'b'], 'policies': [
            {'type': 'affinity', 'level': 'rack', 'weight': 3},
            {'type': 'anti-affinity', 'max_per_domain': param('most')}]}},
        parameters={'most': {'type': 'number', 'default': 2}}))
    near, apart = group.groups[0].policies
    assert (near.type, near.level, near.weight) == ('affinity', 'rack', 3)
    assert (apart.type, apart.max_per_domain) == ('anti-affinity', 2)


def test_a_member_entry_adds_location_traits_and_aggregates():
    group = read(template(
        {'a': server()},
        {'g': {'members': [{
            'resource': 'a', 'location': param('rack'),
            'traits': {'required': ['CUSTOM_NVME']}, 'aggregates': ['ssd']}]}},
        parameters={'rack': {'type': 'string', 'default': 'az1/rack1'}}))
    asked = group.all_members()[0].requirements
    assert asked.flavor == 'm1.small'
    assert asked.required_traits == {'CUSTOM_NVME'}
    assert asked.aggregates == {'ssd'}
    assert asked.location == ('az1', 'rack1')


def test_the_number_of_servers_of_a_resource_may_change():
    document = template(
        {'web': servers(2)},
        {'g': {'members': [{'resource': 'web', 'count': {
            'min': 1, 'max': param('most')}}]}},
        parameters={'most': {'type': 'number', 'default': 5}})
    member, = read(document).groups[0].members
    assert member.bounds == Bounds(1, 2, 5)
    assert paths(document) == ['g/web-0', 'g/web-1']
    assert convert(document, {}).pointers == {'web': 'g/web-%index%'}


@pytest.mark.parametrize('resource, count, place, words', [
    (server(), {'max': 3}, '', 'equal'),
    (servers(2, 'm1.%index%'), {'max': 3}, '', 'equal'),
    (servers(2), {'desired': 3, 'max': 3}, '.desired', '2'),
    (servers(2), {'max': 1}, '.max', 'less than desired'),
    (servers(2), {'min': 3, 'max': 4}, '.min', 'more than desired'),
    (servers(2), {'most': 3}, '.most', 'unknown'),
    (servers(2), 3, '', 'mapping'),
])
def test_a_count_that_cannot_change_is_refused(resource, count, place, words):
    found = refusal(template({'web': resource}, {
        'g': {'members': [{'resource': 'web', 'count': count}]}}))
    assert found[0] == f'groups.g.members[0].count{place}', found
    assert words in found[1], found


def test_relationships_are_between_members_and_groups():
    document = template(
        {'web': servers(2), 'db': server()},
        {'shop': {'groups': {'front': {'members': ['web']}},
                  'members': ['db'],
                  'relationships': [{'type': 'anti-affinity',
                                     'between': ['db', 'front']}]}})
    assert sides(read(document), 'shop') == [
        ['shop/db'], ['shop/front/web-0', 'shop/front/web-1']]


@pytest.mark.parametrize('side, expected', [
    ('web', ['shop/web/web-0', 'shop/web/web-1']),
    ('web-1', ['shop/web/web-1']),
    ('a', ['shop/apart/a']),
    ('apart', ['shop/apart/a', 'shop/apart/b-0', 'shop/apart/b-1']),
    ('b', ['shop/apart/b-0', 'shop/apart/b-1']),
    ('b-0', ['shop/apart/b-0']),
])
def test_a_relationship_names_members_as_its_entry_lists_them(
        side, expected):
    document = template(
        {'apart': server_group('anti-affinity'),
         'a': server(scheduler_hints=hint('apart')),
         'b': servers(2, scheduler_hints=hint('apart')),
         'web': servers(2, availability_zone='az%index%'),
         'lone': server()},
        {'shop': {'members': ['lone', 'web', 'a', 'b'], 'relationships': [
            {'type': 'affinity', 'between': ['lone', side]}]}})
    assert sides(read(document), 'shop') == [['shop/lone'], expected]


def test_a_server_group_is_nested_where_it_is_listed():
    document = template(
        {'apart': server_group('anti-affinity'),
         'a': server(scheduler_hints=hint('apart')), 'b': server()},
        {'shop': {'members': ['b', 'apart']}})
    assert paths(document) == ['shop/b', 'shop/apart/a']


def test_the_name_of_the_stack_names_the_group():
    document = template({'a': server()})
    assert read(document).name == 'stack'
    assert read(document, **{'OS::stack_name': 'shop'}).name == 'shop'


TWO = {'a': server(), 'b': servers(2), 'net': {'type': 'OS::Neutron::Net'},
       'volumes': {'type': 'OS::Heat::ResourceGroup', 'properties': {
           'resource_def': {'type': 'OS::Cinder::Volume'}}},
       'empty': server_group('affinity'),
       'apart': server_group('anti-affinity'),
       'c': server(scheduler_hints=hint('apart')),
       'd': server(scheduler_hints=hint('apart'))}


@pytest.mark.parametrize('groups, place, words', [
    ({'g': {'members': ['gone']}}, 'groups.g.members[0]',
     "no resource 'gone'"),
    ({'g': {'members': ['net']}}, 'groups.g.members[0]', 'OS::Neutron::Net'),
    ({'g': {'members': ['volumes']}}, 'groups.g.members[0]',
     'without servers'),
    ({'g': {'members': ['a', 'a']}}, 'groups.g.members[1]',
     'groups.g.members[0]'),
    ({'g': {'members': ['a']}, 'h': {'members': ['a']}},
     'groups.h.members[0]', 'groups.g.members[0]'),
    ({'g': {'members': ['a'], 'groups': {'h': {'members': [
        {'resource': 'a'}]}}}}, 'groups.g.groups.h.members[0]',
     'groups.g.members[0]'),
    ({'g': {'members': ['empty']}}, 'groups.g.members[0]', 'no server'),
    ({'g': {'members': ['apart', 'c']}}, 'groups.g.members[1]',
     'groups.g.members[0]'),
    ({'g': {'members': ['c']}}, 'groups.g.members[0]', "'d'"),
    ({'g': {'members': ['c']}, 'h': {'members': ['d']}},
     'groups.g.members[0]', "'d'"),
    ({'g': {'members': [{'resource': 'apart', 'aggregates': ['ssd']}]}},
     'groups.g.members[0]', 'name its servers'),
    ({'g': {'members': [{'resource': 'a', 'flavor': 'm1.large'}]}},
     'groups.g.members[0].flavor', 'unknown key'),
    ({'g': {'members': [{'traits': {}}]}}, 'groups.g.members[0]',
     'resource is missing'),
    ({'g': {'members': [{'resource': 'a', 'traits': {'required': ['x y']}}]}},
     'groups.g.members[0].traits.required[0]', 'trait'),
    ({'g': {'members': [{'resource': 'a', 'location': {'get_attr': ['b']}}]}},
     'groups.g.members[0].location', 'get_attr'),
    ({'g': {'members': [7]}}, 'groups.g.members[0]', 'resource'),
    ({'g': {'members': 'a'}}, 'groups.g.members', 'a list'),
    ({'g': {'members': []}}, 'groups.g', 'no members'),
    ({'g': None}, 'groups.g', 'a mapping'),
    ('web', 'groups', 'a mapping or a list'),
    ([{'members': ['a']}], 'groups[0]', 'name is missing'),
    ([7], 'groups[0]', 'a mapping'),
    ([{'name': 'x/y', 'members': ['a']}], 'groups[0]', 'letters'),
    ({'x y': {'members': ['a']}}, "groups['x y']", 'letters'),
    ({'g': {'name': 'h', 'members': ['a']}}, 'groups.g.name', "'g'"),
    ({'g': {'members': ['a'], 'colour': 'red'}}, 'groups.g.colour',
     'unknown key'),
    ({'b': {'members': ['a']}}, 'groups.b', 'resources.b'),
    ({'b-1': {'members': ['a']}}, 'groups.b-1', 'resources.b'),
    ({'g': {'members': ['a'], 'policies': [{'type': 'magnetism'}]}},
     'groups.g.policies[0].type', 'magnetism'),
    ({'g': {'members': ['a'], 'policies': [
        {'type': 'anti-affinity', 'max_per_domain': {'get_attr': ['b']}}]}},
     'groups.g.policies[0].max_per_domain', 'get_attr'),
    ({'g': {'members': ['a'], 'groups': {'h': {
        'members': ['b'], 'policies': [{'type': 'affinity',
                                        'colour': 'red'}]}}}},
     'groups.g.groups.h.policies[0].colour', 'unknown key'),
    ({'g': {'members': ['a', 'b'], 'relationships': [
        {'type': 'affinity', 'between': ['a', 'gone']}]}},
     'groups.g.relationships[0].between[1]', 'gone'),
])
def test_an_invalid_entry_is_refused_with_its_position(groups, place, words):
    found, message = refusal(template(TWO, groups))
    assert found == place
    assert words in message


def test_a_name_equal_to_that_of_a_counted_server_is_refused():
    both = {'web': servers(2), 'web-1': server()}
    expected = 'resources.web-1', "'web-1' is already a name at resources.web"
    assert refusal(template(both)) == expected
    assert refusal(template(both, {
        'g': {'members': ['web', 'web-1']}})) == expected
    assert paths(template(both, {'g': {'members': ['web']}})) == [
        'web-1', 'g/web-0', 'g/web-1']


def test_an_invalid_name_is_reported_at_its_resource():
    place, message = refusal(template({'a b': server()}))
    assert place == "resources['a b']"
    assert 'letters' in message


def test_groups_nested_too_deeply_are_refused():
    groups = {'g': {'members': ['a']}}
    for _ in range(16):
        groups = {'g': {'groups': groups}}
    place, message = refusal(template({'a': server()}, groups))
    assert place.startswith('groups.g.groups.g')
    assert 'deep' in message


@pytest.mark.parametrize('document, place', [
    (template({'a': server()}), 'resources.a.properties.flavor'),
    (template({'a': servers(2)}),
     'resources.a.properties.resource_def.properties.flavor'),
])
def test_an_unknown_flavor_is_reported_at_its_resource(document, place):
    with pytest.raises(InvalidDocument) as caught:
        bind(read(document), two_racks())
    assert caught.value.place == place


def test_an_unknown_level_is_reported_at_its_entry():
    group = read(template({'a': server()}, {'g': {
        'members': ['a'], 'policies': [{'type': 'affinity',
                                        'level': 'isle'}]}}))
    with pytest.raises(InvalidDocument) as caught:
        bind(group, two_racks())
    assert caught.value.place == 'groups.g.policies[0].level'
