# SPDX-License-Identifier: Apache-2.0
"""All mistakes of a template are reported together, with their positions."""

from nova_holistic.documents.definition import split_definition
from nova_holistic.exceptions import InvalidDocument
import pytest

from tests.unit.documents.hot.templates import (
    hint, param, server, server_group, servers, template, TYPES)


def mistakes(document, **parameters):
    with pytest.raises(InvalidDocument) as caught:
        split_definition(document, TYPES, parameters)
    return {each.place: each.message for each in caught.value.mistakes}


def test_each_property_of_each_server_is_checked():
    assert mistakes(template({
        'a': server(flavor=None, availability_zone='az1:host3',
                    scheduler_hints=hint('b-grp')),
        'b-group': server_group('affinity'),
        'c': servers(-1, flavor={'get_attr': ['a', 'name']},
                     scheduler_hints={'holistic_member': 'c'}),
        'd': server()})) == {
            'resources.a.properties': 'flavor is missing',
            'resources.a.properties.availability_zone':
                "'az1:host3' forces a host, which may contradict the plan; "
                'use the key location of the member',
            'resources.a.properties.scheduler_hints.group':
                "'b-grp' is not an OS::Nova::ServerGroup of the template "
                "(did you mean 'b-group'?)",
            'resources.c.properties.count':
                'must be a whole number, at least 0, not -1',
            'resources.c.properties.resource_def.properties.flavor':
                'function get_attr is not supported where a plan needs the '
                'value',
            'resources.c.properties.resource_def.properties.scheduler_hints.'
            'holistic_member':
                'is reserved for the pointer to the member, which '
                'nova-holistic adds'}


def test_a_parameter_with_a_mistake_is_reported_once():
    assert mistakes(template(
        {'a': servers(param('size')), 'b': servers(param('size')),
         'c': server(flavor=param('flavour')), 'd': server(param('none'))},
        parameters={'size': {'type': 'number'}, 'flavor': {'type': 'string'},
                    'none': {'type': 'string'}}),
        size='big', sise='3') == {
            'parameters.size': "the value 'big' given for it in an "
            'environment or on the command line is not of type number',
            'parameters':
                "the template has no parameter 'sise' (did you mean 'size'?);"
                " it has 'flavor', 'none', 'size'",
            'resources.c.properties.flavor.get_param':
                "no parameter 'flavour' (did you mean 'flavor'?)",
            'resources.d.properties.flavor.get_param':
                "parameter 'none' has no value: it has no default and none is "
                'given'}


def test_nested_groups_and_their_policies_are_checked():
    found = mistakes(template(
        {'web': servers(2), 'db': server()},
        {'front': {
            'members': ['webb', 'db', {'resource': 'web', 'locaton': 'az1'}],
            'policies': [{'type': 'anti-afinity', 'level': 'rack'},
                         {'type': 'affinity', 'level': param('level')},
                         {'type': 'spread'}],
            'groups': {'inner': {
                'members': ['db'],
                'relationships': [
                    {'type': 'affinty', 'between': ['db', 'web']}]}}}}))
    assert sorted(found) == [
        'groups.front.groups.inner.members[0]',
        'groups.front.groups.inner.relationships[0].type',
        'groups.front.members[0]', 'groups.front.members[2].locaton',
        'groups.front.policies[0].type',
        'groups.front.policies[1].level.get_param', 'groups.front.policies[2]']
    assert found['groups.front.members[0]'] == (
        "no resource 'webb' (did you mean 'web'?)")
    assert "(did you mean 'anti-affinity'?)" in (
        found['groups.front.policies[0].type'])
    assert "(did you mean 'affinity'?)" in (
        found['groups.front.groups.inner.relationships[0].type'])
    assert "(did you mean 'location'?)" in (
        found['groups.front.members[2].locaton'])


def test_the_shape_of_a_template_and_its_content_are_checked_together():
    found = mistakes({
        'heat_template_version': '2021-04-16', 'parametters': {},
        'parameters': {'flavor': {'typ': 'string'}},
        'resources': {
            'web': server(flavor=param('flavor')), 'db': {'properties': {}},
            'cache': server(availability_zone=5.5)},
        'groups': {'front': {'members': ['web', 'db', 'cach']}}})
    assert found == {
        'parametters': found['parametters'],
        'parameters.flavor': 'type is missing',
        'resources.db': 'type is missing',
        'resources.cache.properties.availability_zone':
            'must be text of at most 255 characters, not 5.5',
        'groups.front.members[2]':
            "no resource 'cach' (did you mean 'cache'?)"}
    assert "(did you mean 'parameters'?)" in found['parametters']


def test_a_server_group_with_a_mistake_does_not_hide_others():
    assert mistakes(template({
        'a': server(scheduler_hints=hint('one')), 'one': server_group('near'),
        'b': server(scheduler_hints=hint('two')),
        'two': server_group('anti-afinity')})) == {
            'resources.one.properties.policies':
                'must be a list of one of affinity, anti-affinity, '
                'soft-affinity, soft-anti-affinity',
            'resources.two.properties.policies':
                'must be a list of one of affinity, anti-affinity, '
                "soft-affinity, soft-anti-affinity (did you mean "
                "'anti-affinity'?)"}


def test_a_template_with_one_mistake_has_no_follow_up_errors():
    """Sides and members that name a resource with a mistake are correct."""
    assert [*mistakes(template(
        {'web': servers('many'), 'db': server()},
        {'front': {'members': ['web', 'db'], 'relationships': [
            {'type': 'affinity', 'between': ['web-3', 'db']}]}}))] == [
                'resources.web.properties.count']
