# SPDX-License-Identifier: Apache-2.0
"""A template is split into a group document and a plain template."""

import copy

import pytest

from nova_holistic.documents.definition import split_definition
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from tests.unit.documents.hot.templates import (
    hint, param, read, server, server_group, servers, template, TYPES)

UUID = {'get_param': 'holistic_group'}


def split(document):
    return split_definition(document, TYPES)


def pointers(plain):
    """The scheduler hints of every server resource."""
    found = {}
    for name, resource in plain['resources'].items():
        properties = resource.get('properties', {})
        properties = properties.get('resource_def', resource)['properties'] \
            if 'resource_def' in properties else properties
        if 'scheduler_hints' in properties:
            found[name] = properties['scheduler_hints']
    return found


def test_the_group_document_describes_the_planned_group():
    document = template(
        {'apart': server_group('anti-affinity'),
         'a': server(scheduler_hints=hint('apart')),
         'web': servers(2), 'zoned': servers(2, availability_zone='z%index%')},
        {'shop': {'members': ['web', 'a'], 'policies': [
            {'type': 'affinity', 'level': 'rack'}]}})
    group, _ = split(document)
    assert parse_group(group, TYPES) == read(document)


def test_every_server_gets_its_pointer():
    document = template(
        {'apart': server_group('anti-affinity'),
         'a': server(scheduler_hints=hint('apart')),
         'web': servers(2), 'alone': server(),
         'zoned': servers(2, availability_zone='z%i%',
                          around={'index_var': '%i%'}),
         'net': {'type': 'OS::Neutron::Net'}},
        {'shop': {'members': ['a'], 'groups': {'front': {
            'members': ['web', 'zoned']}}}})
    group, plain = split(document)
    assert pointers(plain) == {
        'a': {'group': {'get_resource': 'apart'}, 'holistic_group': UUID,
              'holistic_member': 'shop/apart/a'},
        'web': {'holistic_group': UUID,
                'holistic_member': 'shop/front/web-%index%'},
        'alone': {'holistic_group': UUID, 'holistic_member': 'alone'},
        'zoned': {'holistic_group': UUID,
                  'holistic_member': 'shop/front/zoned/zoned-%i%'}}
    paths = {m.path for m in parse_group(group, TYPES).all_members()}
    assert paths == {
        'shop/apart/a', 'shop/front/web-0', 'shop/front/web-1', 'alone',
        'shop/front/zoned/zoned-0', 'shop/front/zoned/zoned-1'}


def test_everything_but_the_pointers_is_unchanged():
    document = template(
        {'a': server(param('size'), scheduler_hints={'query': ['=', 1, 1]},
                     user_data={'get_file': 'x'}, networks=[{'port': 'p'}]),
         'apart': server_group('affinity'),
         'net': {'type': 'OS::Neutron::Net', 'depends_on': 'apart'}},
        {'g': {'members': ['a']}},
        parameters={'size': {'type': 'string', 'default': 'm1.small'}},
        outputs={'x': {'value': {'get_attr': ['a', 'name']}}})
    before = copy.deepcopy(document)
    _, plain = split(document)
    assert document == before
    assert plain['resources']['a']['properties']['scheduler_hints'].pop(
        'holistic_member') == 'g/a'
    del plain['resources']['a']['properties']['scheduler_hints'][
        'holistic_group']
    assert plain['parameters'].pop('holistic_group')['type'] == 'string'
    del before['groups']
    assert plain == before


def test_a_resource_group_of_count_0_gets_a_pointer_too():
    document = template(
        {'a': server(), 'web': servers(param('count'))},
        parameters={'count': {'type': 'number', 'default': 0}})
    assert pointers(split(document)[1])['web']['holistic_member'] == \
        'web-%index%'


@pytest.mark.parametrize('section, content', [
    ('parameters', {'type': 'string'}), ('resources', server())])
def test_the_name_of_the_parameter_must_be_free(section, content):
    document = template({'a': server()}, parameters={})
    document[section]['holistic_group'] = content
    with pytest.raises(InvalidDocument) as caught:
        split(document)
    assert caught.value.place == f'{section}.holistic_group'


def test_an_index_variable_contained_in_the_path_is_refused():
    with pytest.raises(InvalidDocument) as caught:
        split(template({'web': servers(2, around={'index_var': 'web'})}))
    assert caught.value.place == 'resources.web.properties.index_var'


def test_a_group_document_cannot_be_split():
    with pytest.raises(InvalidDocument):
        split({'name': 'shop', 'members': [{'name': 'a', 'flavor': 'x'}]})
