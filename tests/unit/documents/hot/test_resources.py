# SPDX-License-Identifier: Apache-2.0
"""Each resource of a template with servers becomes one member description."""

import pytest

from tests.unit.documents.hot.templates import (
    hint, needs, param, paths, read, refusal, server, server_group, servers,
    template)

PLACE = 'resources.a.properties'
IN_GROUP = f'{PLACE}.resource_def.properties'


def scope(group, path):
    return next(s for s in group.scopes() if s.path == path)


def scaled(**sizes):
    """An OS::Heat::AutoScalingGroup of servers."""
    return {'type': 'OS::Heat::AutoScalingGroup',
            'properties': {'resource': server(), **sizes}}


def test_a_server_has_the_flavor_and_zone_of_its_resource():
    assert needs(template({
        'a': server('m1.large', availability_zone='az1', image='cirros'),
        'b': server()})) == {'a': ('m1.large', 'az1'),
                             'b': ('m1.small', None)}


def test_other_resources_are_ignored():
    assert paths(template({
        'net': {'type': 'OS::Neutron::Net',
                'properties': {'name': {'get_attr': ['a', 'name']}}},
        'volumes': {'type': 'OS::Heat::ResourceGroup', 'properties': {
            'count': {'get_attr': ['a', 'name']},
            'resource_def': {'type': 'OS::Cinder::Volume'}}},
        'a': server()})) == ['a']


def test_a_resource_group_becomes_a_counted_member():
    group = read(template({'web': servers(3)}))
    assert [(m.path, m.description) for m in group.all_members()] == [
        ('web-0', 'web'), ('web-1', 'web'), ('web-2', 'web')]


def test_a_resource_group_without_a_count_has_one_server():
    web = servers(0)
    del web['properties']['count']
    assert paths(template({'web': web})) == ['web-0']


def test_a_resource_group_of_no_servers_has_no_member():
    assert paths(template({'web': servers(0), 'a': server()})) == ['a']
    assert refusal(template({'web': servers(0)})) == (
        'resources', 'there are no servers to place')


def test_an_index_in_a_name_keeps_one_description():
    group = read(template({'web': servers(2, name='web-%index%')}))
    assert [m.description for m in group.all_members()] == ['web', 'web']


def test_an_index_in_a_zone_makes_separate_descriptions():
    document = template(
        {'web': servers(3, availability_zone='az%index%'), 'a': server()})
    assert needs(document) == {
        'web/web-0': ('m1.small', 'az0'), 'web/web-1': ('m1.small', 'az1'),
        'web/web-2': ('m1.small', 'az2'), 'a': ('m1.small', None)}


def test_an_index_variable_can_be_renamed_and_used_in_a_parameter():
    document = template(
        {'web': servers(2, param('size'), around={'index_var': '%i%'})},
        parameters={'size': {'type': 'string', 'default': 'm%i%.small'}})
    assert needs(document) == {
        'web/web-0': ('m0.small', None), 'web/web-1': ('m1.small', None)}


@pytest.mark.parametrize('policies, expected', [
    ([], 'anti-affinity'), (['affinity'], 'affinity'),
    (['anti-affinity'], 'anti-affinity'),
    (['soft-affinity'], 'soft-affinity'),
    (['soft-anti-affinity'], 'soft-anti-affinity')])
def test_a_server_group_becomes_a_group_with_its_policy(policies, expected):
    resource = server_group(*policies)
    if not policies:
        del resource['properties']['policies']
    group = read(template({
        'apart': resource,
        'a': server(scheduler_hints=hint('apart')),
        'b': servers(2, scheduler_hints=hint('apart')),
        'c': server()}))
    assert [m.path for m in group.all_members()] == [
        'c', 'apart/a', 'apart/b-0', 'apart/b-1']
    policy, = scope(group, 'apart').group.policies
    assert (policy.type, policy.level) == (expected, 'host')


def test_max_server_per_host_becomes_max_per_domain():
    group = read(template({
        'apart': server_group('anti-affinity',
                              rules={'max_server_per_host': 2}),
        'a': servers(4, scheduler_hints=hint('apart'))}))
    policy, = scope(group, 'apart').group.policies
    assert policy.max_per_domain == 2


def test_a_server_group_without_servers_is_ignored():
    assert paths(template({
        'apart': server_group({'get_attr': ['a', 'b']}), 'a': server()})) == [
            'a']


@pytest.mark.parametrize('number', [7, '7'])
def test_numbers_are_read_as_heat_reads_them(number):
    assert needs(template({'a': server(number)})) == {'a': ('7', None)}
    assert len(paths(template({'a': servers(number)}))) == 7


def test_an_empty_zone_is_any_zone():
    assert needs(template({'a': server(availability_zone='')})) == {
        'a': ('m1.small', None)}


@pytest.mark.parametrize('resource, place, words', [
    ({'type': 'OS::Nova::Server'}, PLACE, 'flavor is missing'),
    (server(None), PLACE, 'flavor is missing'),
    (server(['m1.small']), f'{PLACE}.flavor', 'a list'),
    (server({'get_attr': ['b', 'flavor']}), f'{PLACE}.flavor', 'get_attr'),
    (server({'Fn::Join': ['.', ['m1', 'x']]}), f'{PLACE}.flavor', 'Fn::Join'),
    (server({'if': ['big', 'm1.large', 'm1.small']}), f'{PLACE}.flavor',
     'function if '),
    (server({'get_resource': 'b'}), f'{PLACE}.flavor', 'get_resource'),
    (server('x' * 256), f'{PLACE}.flavor', '255'),
    (server(availability_zone={'yaql': {}}), f'{PLACE}.availability_zone',
     'yaql'),
    (server(availability_zone='az1:host7'), f'{PLACE}.availability_zone',
     'forces a host'),
    (server(scheduler_hints={'get_param': 'x'}),
     f'{PLACE}.scheduler_hints', 'must be a literal mapping; the function '
     'get_param is not supported here'),
    (server(scheduler_hints=5), f'{PLACE}.scheduler_hints',
     'must be a mapping, not 5'),
    (server(scheduler_hints={'group': 'c0ffee'}),
     f'{PLACE}.scheduler_hints.group', 'the UUID of a server group'),
    (server(scheduler_hints={'group': {'get_attr': ['b', 'id']}}),
     f'{PLACE}.scheduler_hints.group', 'get_attr'),
    (server(scheduler_hints=hint('b')), f'{PLACE}.scheduler_hints.group',
     "'b' is not an OS::Nova::ServerGroup"),
    (server(scheduler_hints=hint('gone')), f'{PLACE}.scheduler_hints.group',
     "'gone'"),
    (server(scheduler_hints={'holistic_member': 'x'}),
     f'{PLACE}.scheduler_hints.holistic_member', 'pointer'),
    ({**server(), 'condition': 'big'}, 'resources.a.condition',
     'not supported'),
    ({**server(), 'external_id': 'c0ffee'}, 'resources.a.external_id',
     'an existing resource'),
    ({'type': 7}, 'resources.a.type', 'text'),
    ({'properties': {}}, 'resources.a', 'type is missing'),
    (servers({'get_attr': ['b', 'n']}), f'{PLACE}.count', 'get_attr'),
    (servers(-1), f'{PLACE}.count', 'at least 0'),
    (servers(True), f'{PLACE}.count', 'whole number'),
    (servers(2.5), f'{PLACE}.count', 'whole number'),
    (servers(10_001), f'{PLACE}.count', 'at most 10000'),
    (servers(2, {'get_attr': ['b', 'f']}), f'{IN_GROUP}.flavor', 'get_attr'),
    (servers(2, around={'index_var': 'i'}), f'{PLACE}.index_var',
     '3 characters'),
    (servers(2, around={'removal_policies': [{'resource_list': ['0']}]}),
     f'{PLACE}.removal_policies[0]', 'removal'),
    (servers(2, around={'resource_def': {'get_param': 'x'}}),
     f'{PLACE}.resource_def', 'literal mapping'),
    (scaled(min_size=5, max_size=2), f'{PLACE}.max_size',
     '2 is less than min_size, 5'),
    (scaled(min_size=2, max_size=4, desired_capacity=1),
     f'{PLACE}.desired_capacity',
     '1 is not between min_size, 2, and max_size, 4'),
    (scaled(min_size=1, max_size=2, desired_capacity=9),
     f'{PLACE}.desired_capacity',
     '9 is not between min_size, 1, and max_size, 2'),
    (servers(2, around={'resource_def': {'type': {'get_param': 'x'}}}),
     f'{PLACE}.resource_def.type', 'written out'),
    ({**servers(2), 'condition': 'big'}, 'resources.a.condition',
     'not supported'),
])
def test_an_invalid_or_unsupported_resource_is_refused(
        resource, place, words):
    found, message = refusal(template({'a': resource, 'b': server()}))
    assert found == place
    assert words in message


@pytest.mark.parametrize('properties, key, words', [
    ({'policies': ['closeness']}, 'policies', 'one of affinity'),
    ({'policies': ['affinity', 'anti-affinity']}, 'policies', 'a list of one'),
    ({'policies': {'get_attr': ['b', 'x']}}, 'policies', 'get_attr'),
    ({'rules': {'max_server_per_host': 0}}, 'rules.max_server_per_host',
     'at least 1'),
    ({'policies': ['affinity'], 'rules': {'max_server_per_host': 2}},
     'rules.max_server_per_host', 'anti-affinity only'),
    ({'rules': 7}, 'rules', 'a mapping'),
])
def test_an_invalid_server_group_is_refused(
        properties, key, words):
    place, message = refusal(template({
        'apart': {'type': 'OS::Nova::ServerGroup', 'properties': properties},
        'a': server(scheduler_hints=hint('apart'))}))
    assert place == f'resources.apart.properties.{key}'
    assert words in message


def test_more_than_ten_thousand_servers_are_refused():
    assert refusal(template({'a': servers(6000), 'b': servers(6000)})) == (
        'resources.b', 'more than 10000 servers')


def test_functions_outside_the_needed_properties_are_ignored():
    assert paths(template({'a': server(
        name={'str_split': ['-', 'x']}, user_data={'get_file': 'x'},
        scheduler_hints={'query': {'get_attr': ['b', 'x']}})})) == ['a']
