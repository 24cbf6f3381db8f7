# SPDX-License-Identifier: Apache-2.0
"""Nested templates, AutoScalingGroups and environments of a template."""

import pytest

from nova_holistic.documents.definition import (
    read_definition, split_template)
from nova_holistic.documents.hot.conversion import convert
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.documents.hot.type_registry import Registry
from nova_holistic.exceptions import InvalidDocument
from tests.unit.documents.hot.templates import (
    param, server, servers, template, TYPES)

NODE = template({'server': server(param('flavor'))}, parameters={
    'flavor': {'type': 'string', 'default': 'm1.small'}})


class Given:
    """The nested templates of a test."""

    available = True

    def __init__(self, **files):
        self._files = {f'{name}.yaml': each for name, each in files.items()}

    def locate(self, name, base):
        return name

    def read(self, located):
        return self._files[located]


def nested(kind='node.yaml', **properties):
    return {'type': kind, 'properties': properties}


def repeated(count, kind='node.yaml', **properties):
    return {'type': 'OS::Heat::ResourceGroup', 'properties': {
        'count': count, 'resource_def': nested(kind, **properties)}}


def scaled(least, most, resource):
    return {'type': 'OS::Heat::AutoScalingGroup', 'properties': {
        'min_size': least, 'max_size': most, 'resource': resource}}


def source(registry=None, **files):
    return TemplateSource(
        Given(node=NODE, **files), Registry(registry or {}))


def flavors(document, given=source()):
    return {m.path: m.requirements.flavor for m in read_definition(
        document, TYPES, {}, given).all_members()}


def rules(document, given=source()):
    return [(rule.resource, rule.member)
            for rule in convert(document, {}, given).rules]


def test_a_nested_stack_is_a_nested_group():
    assert flavors(template({
        'a': nested(), 'b': nested(flavor='m1.large')})) == {
        'a/server': 'm1.small', 'b/server': 'm1.large'}


def test_stacks_of_a_resource_group_have_their_index():
    made = template({'a': repeated(2, flavor='m%index%')})
    assert flavors(made) == {'a/0/server': 'm0', 'a/1/server': 'm1'}
    assert rules(made) == [('a/*/server', 'a/*/server')]


def test_an_index_is_inserted_into_evaluated_values():
    made = template({'a': repeated(2, flavor={'str_replace': {
        'template': param('name'), 'params': {'SIZE': 'm%index%'}}})},
        parameters={'name': {'type': 'string', 'default': '%index%.SIZE'}})
    assert flavors(made) == {'a/0/server': '0.m0', 'a/1/server': '1.m1'}
    made = template({'a': repeated(2, flavor={'str_replace': {
        'template': 'm%index%', 'params': {'%index%': '1'}}})})
    assert flavors(made) == {'a/0/server': 'm1', 'a/1/server': 'm1'}


def test_a_type_of_the_registry_is_a_nested_template():
    given = source({'My::Node': 'Other', 'Other': 'node.yaml',
                    'My::Server': 'OS::Nova::Server', 'Net*': 'net'})
    assert flavors(template({
        'a': nested('My::Node'), 'b': {**server(), 'type': 'My::Server'}}),
        given) == {'a/server': 'm1.small', 'b': 'm1.small'}


def test_a_type_of_the_registry_is_a_server_group():
    near = {'type': 'My::Group', 'properties': {'policies': ['affinity']}}
    hints = {'group': {'get_resource': 'near'}}
    made = template({'near': near, 'a': server(scheduler_hints=hints)},
                    groups={'front': {'members': ['near']}})
    given = source({'My::*': 'OS::Nova::Server*',
                    'My::Group': 'OS::Nova::ServerGroup'})
    assert flavors(made, given).keys() == {'front/near/a'}


def test_nested_templates_may_be_nested():
    rack = template({'nodes': repeated(2), 'web': servers(2)})
    made = template({'racks': repeated(2, 'rack.yaml')})
    given = source(rack=rack)
    assert list(flavors(made, given)) == [
        f'racks/{rack}/{path}' for rack in (0, 1) for path in (
            'web-0', 'web-1', 'nodes/0/server', 'nodes/1/server')]
    assert sorted(rules(made, given)) == [
        ('racks/*/nodes/*/server', 'racks/*/nodes/*/server'),
        ('racks/*/web/*', 'racks/*/web-*')]


def test_servers_of_a_scaling_group_are_an_elastic_member():
    made = template({'a': scaled(2, 5, server()),
                     'b': scaled(1, 3, nested())})
    document = convert(made, {}, source()).document
    assert document['members'] == [{
        'name': 'a', 'flavor': 'm1.small', 'count': {'desired': 2, 'max': 5}}]
    assert document['groups'] == [{'name': 'b', 'members': [{
        'name': 'server', 'flavor': 'm1.small',
        'count': {'desired': 1, 'max': 3}}]}]
    assert rules(made) == [('a/*', 'a'), ('b/*/server', 'b/server')]


def test_one_place_is_planned_for_a_scaling_group_without_servers():
    document = convert(template({'a': scaled(0, 5, server())}),
                       {}, source()).document
    assert document['members'] == [{
        'name': 'a', 'flavor': 'm1.small', 'count': {'desired': 1, 'max': 5}}]


def test_groups_are_in_the_metadata_of_a_resource():
    groups = {'g': {'members': ['a'], 'policies': [
        {'type': 'anti-affinity', 'level': 'host'}]}}
    annotated = template({
        'a': repeated(2), 'placement': {
            'type': 'OS::Heat::None', 'metadata': {
                'holistic_groups': groups, 'other': 1}}})
    assert list(flavors(annotated)) == ['g/a/0/server', 'g/a/1/server']
    split = split_template(annotated, TYPES, {}, source())
    assert split.template['resources']['placement'] == {
        'type': 'OS::Heat::None', 'metadata': {'other': 1}}
    with pytest.raises(InvalidDocument, match='groups are already at groups'):
        flavors({**annotated, 'groups': groups})


def test_plain_nested_templates_point_at_their_group():
    split = split_template(
        template({'a': repeated(2), 'b': nested()},
                 {'g': {'members': ['a']}}),
        TYPES, {}, source(), lambda name: f'plain-{name}')
    a, b = (split.template['resources'][name]['properties']
            for name in ('a', 'b'))
    assert a['resource_def'] == {'type': 'plain-node.yaml', 'properties': {
        'holistic_group': {'get_param': 'holistic_group'},
        'holistic_path': 'g/a/%index%'}}
    assert b['holistic_path'] == 'b'
    (plain,) = split.nested.values()
    assert {'holistic_group', 'holistic_path'} < set(plain['parameters'])
    assert plain['resources']['server']['properties']['scheduler_hints'] == {
        'holistic_group': {'get_param': 'holistic_group'},
        'holistic_member': {'list_join': [
            '/', [{'get_param': 'holistic_path'}, 'server']]}}


@pytest.mark.parametrize('resources, files, place, message', [
    ({'a': nested(flavor={'get_attr': ['b', 'name']}), 'b': server()}, {},
     'node.yaml: resources.server.properties.flavor.get_param',
     'not known before the stack is created'),
    ({'a': nested(size=2)}, {}, 'node.yaml: parameters',
     "the template has no parameter 'size'"),
    ({'a': nested('loop.yaml')},
     {'loop': template({'a': nested('loop.yaml')})},
     ': '.join([*['loop.yaml'] * 5, 'resources.a.type']),
     'nested stacks are more than 5 levels deep'),
    ({'a': scaled(1, 2, nested('two.yaml'))},
     {'two': template({'a': servers(2)})}, 'resources.a', 'single servers'),
    ({'a': {**nested(), 'condition': 'c'}}, {}, 'resources.a.condition',
     'conditions are not supported'),
    ({'a': nested('bad.yaml')}, {'bad': template(
        {'s': server()}, {'g': {'members': ['s'], 'policies': [
            {'type': 'affinty'}]}})},
     'bad.yaml: groups.g.policies[0].type', 'affinty'),
])
def test_a_mistake_is_reported_with_its_file(
        resources, files, place, message):
    with pytest.raises(InvalidDocument) as caught:
        flavors(template(resources), source(**files))
    assert caught.value.place.endswith(place)
    assert message in caught.value.message


def test_without_files_nested_templates_are_left_to_heat():
    assert flavors(template({'a': nested(), 'b': server()}), None) == {
        'b': 'm1.small'}
