# SPDX-License-Identifier: Apache-2.0
"""Parameters and functions give the values that a plan needs."""

import pytest

from tests.unit.documents.hot.templates import (
    needs, param, paths, refusal, server, servers, template)

FLAVOR = 'resources.a.properties.flavor'


def declared(kind, **fields):
    return {'p': {'type': kind, **fields}}


def flavor(value, parameters, **given):
    document = template({'a': server(value)}, parameters=parameters)
    return needs(document, **given)['a'][0]


def test_a_given_value_overrides_the_default():
    parameters = declared('string', default='m1.small')
    assert flavor(param('p'), parameters) == 'm1.small'
    assert flavor(param('p'), parameters, p='m1.large') == 'm1.large'


def test_get_param_reads_items_of_json_and_lists():
    assert flavor(param('p', 'db', 1), declared(
        'json', default={'db': ['x', 'm1.large']})) == 'm1.large'
    assert flavor(param('p', 'db'), declared('json'),
                  p='{"db": "m1.large"}') == 'm1.large'
    assert flavor(param('p', 1), declared('comma_delimited_list'),
                  p='m1.small,m1.large') == 'm1.large'
    assert flavor(param('p', '0'), declared(
        'comma_delimited_list', default=['m1.small'])) == 'm1.small'


def test_spaces_belong_to_the_items_of_a_list():
    assert flavor({'list_join': ['', [param('p', 1), '.small']]}, declared(
        'comma_delimited_list'), p='m2, m1') == ' m1.small'


@pytest.mark.parametrize('given', ['3', '"3"', 3])
def test_a_json_parameter_has_any_value_of_json(given):
    assert len(paths(template({'a': servers(param('p'))}, parameters={
        'p': {'type': 'json'}}), p=given)) == 3


def test_json_text_is_not_read_as_yaml():
    assert refusal(template({'a': server()}, parameters={
        'p': {'type': 'json'}}), {'p': '{a: 3}'}) == (
        'parameters.p', "the value '{a: 3}' given for it in an environment or "
        'on the command line is not of type json')


def test_a_get_param_path_may_contain_a_parameter():
    assert flavor(
        {'get_param': ['p', param('size')]},
        {**declared('json', default={'big': 'm1.large'}),
         'size': {'type': 'string', 'default': 'big'}}) == 'm1.large'


@pytest.mark.parametrize('default, given, count', [
    (3, None, 3), ('3', None, 3), (3, '2', 2), (3, '+2', 2), (3, '2.0', 2)])
def test_a_number_parameter_sets_the_count(default, given, count):
    document = template({'a': servers(param('p'))},
                        parameters=declared('number', default=default))
    assert len(paths(document, **({'p': given} if given else {}))) == count


@pytest.mark.parametrize('kind, allowed, given', [
    ('number', [1, 2], '2.0'), ('number', ['2'], '2'),
    ('number', [1.0, 2.0], '2'), ('number', [0.1, 2], '2'),
    ('string', [1, 2], '2'), ('string', ['2'], '2')])
def test_an_allowed_value_may_be_written_differently(kind, allowed, given):
    """As in Heat, allowed values have the type of their parameter."""
    document = template({'a': servers(param('p'))}, parameters={'p': {
        'type': kind, 'constraints': [{'allowed_values': allowed}]}})
    assert len(paths(document, p=given)) == 2


@pytest.mark.parametrize('allowed', [[True], ['true'], ['yes'], [1]])
def test_an_allowed_boolean_may_be_text(allowed):
    fields = {'type': 'boolean', 'constraints': [{'allowed_values': allowed}]}
    document = template({'a': server()}, parameters={'p': fields})
    assert len(paths(document, p='on')) == 1
    place, message = refusal(document, {'p': 'off'})
    assert place == 'parameters.p' and 'must be one of' in message


def test_pseudo_parameters_of_the_stack_can_be_given():
    assert flavor(param('OS::project_id'), {},
                  **{'OS::project_id': 'c0ffee'}) == 'c0ffee'


@pytest.mark.parametrize('value, expected', [
    ({'str_replace': {'template': 'FAMILY.SIZE',
                      'params': {'FAMILY': 'm1', 'SIZE': param('p')}}},
     'm1.small'),
    # Longer keys are replaced first, and the inserted text is not searched
    # again.
    ({'str_replace': {'template': 'ab.a', 'params': {
        'a': 'x', 'ab': 'a', 'x': 'y'}}}, 'a.x'),
    ({'str_replace': {'template': 'm$n.t', 'params': {'$n': 1, 't': None}}},
     'm1.'),
    ({'list_join': ['.', ['m1', param('p')]]}, 'm1.small'),
    ({'list_join': ['', ['m'], ['1', '.'], [param('p')]]}, 'm1.small'),
    ({'list_join': ['.', ['m1', {'list_join': ['', ['s', 'mall']]}]]},
     'm1.small'),
])
def test_text_functions_are_evaluated(value, expected):
    assert flavor(value, declared('string', default='small')) == expected


@pytest.mark.parametrize('value, parameters, step, words', [
    (param('q'), declared('string'), '.get_param', "no parameter 'q'"),
    (param('p'), declared('string'), '.get_param', "'p' has no value"),
    (param('p'), declared('string', default=None), '.get_param',
     "'p' has no value"),
    (param('OS::stack_name'), {}, '.get_param', 'no value'),
    ({'get_param': []}, {}, '.get_param', 'name of a parameter'),
    ({'get_param': {'a': 'p'}}, {}, '.get_param', 'name of a parameter'),
    (param('p', 'x'), declared('json', default={'y': 1}), '.get_param[1]',
     "nothing at 'x'"),
    (param('p', 7), declared('comma_delimited_list', default='a,b'),
     '.get_param[1]', 'nothing at 7'),
    (param('p', 0), declared('string', default='m1'), '.get_param[1]',
     'nothing'),
    ({'str_replace': {'template': 'x'}}, {}, '.str_replace', 'params'),
    ({'str_replace': {'template': ['x'], 'params': {}}}, {},
     '.str_replace.template', 'text'),
    ({'str_replace': {'template': 'x', 'params': {'x': ['y']}}}, {},
     '.str_replace.params.x', 'a list'),
    ({'str_replace': {'template': 'x', 'params': {'x': {
        'get_attr': ['b', 'name']}}}}, {}, '.str_replace.params.x',
     'get_attr'),
    ({'list_join': '.'}, {}, '.list_join', 'delimiter'),
    ({'list_join': ['.', ['a', 7]]}, {}, '.list_join[1][1]', 'text'),
])
def test_a_value_that_cannot_be_evaluated_is_refused(
        value, parameters, step, words):
    place, message = refusal(template(
        {'a': server(value)}, parameters=parameters))
    assert place == FLAVOR + step
    assert words in message


@pytest.mark.parametrize('fields, given, words', [
    ({'type': 'number'}, 'many', "the value 'many' given for it in an "
     'environment or on the command line is not of type number'),
    ({'type': 'number'}, 'nan', 'not of type number'),
    ({'type': 'number'}, '1' * 5000, 'not of type number'),
    ({'type': 'boolean'}, 'perhaps', 'not of type boolean'),
    ({'type': 'json'}, '{"a"', 'not of type json'),
    ({'type': 'json'}, 'a', 'not of type json'),
    ({'type': 'string', 'constraints': [{'allowed_values': ['a', 'b']}]},
     'c', "one of 'a', 'b'"),
    ({'type': 'comma_delimited_list',
      'constraints': [{'allowed_values': ['a', 'b']}]}, 'a,c', "one of 'a'"),
    ({'type': 'number', 'constraints': [{'range': {'min': 2, 'max': 4}}]},
     '5', 'at least 2 and at most 4'),
    ({'type': 'number', 'constraints': [{'range': {'min': 2}}]}, '1',
     'at least 2'),
    ({'type': 'string', 'constraints': [{'length': {'max': 2}}]}, 'abc',
     'length at most 2'),
    ({'type': 'number', 'constraints': [
        {'modulo': {'step': 2, 'offset': 1}}]}, '4',
     '1 more than a multiple of 2'),
])
def test_a_given_value_must_satisfy_its_parameter(fields, given, words):
    place, message = refusal(
        template({'a': server()}, parameters={'p': fields}), {'p': given})
    assert place == 'parameters.p'
    assert words in message


def test_a_value_that_satisfies_all_constraints_is_accepted():
    constraints = [{'range': {'min': 2, 'max': 4}},
                   {'modulo': {'step': 2, 'offset': 0}},
                   {'allowed_values': [2, 4]},
                   {'custom_constraint': 'nova.keypair'}]
    assert len(paths(template(
        {'a': servers(param('p'))},
        parameters=declared('number', constraints=constraints)), p='4')) == 4


@pytest.mark.parametrize('fields', [
    {'constraints': None},
    {'constraints': [{'range': {'min': '1', 'max': '+5.5'}}]},
    {'constraints': [{'range': {'min': None, 'max': 5}}]},
    {'constraints': [{'modulo': {'step': '2', 'offset': None}}]}])
def test_constraints_are_read_as_heat_reads_them(fields):
    assert len(paths(template({'a': servers(param('p'))}, parameters=declared(
        'number', **fields)), p='4')) == 4


def test_a_limit_of_a_range_in_the_form_of_text_is_checked():
    assert refusal(template({'a': server()}, parameters=declared(
        'number', constraints=[{'range': {'min': '3'}}])), {'p': '2'})[
            1].endswith('must be at least 3')


def test_the_default_replaces_null():
    parameters = declared('string', default='m1.small')
    assert flavor(param('p'), parameters, p=None) == 'm1.small'
    assert paths(template({'a': server()}), **{'OS::stack_name': None}) == [
        'a']
    assert refusal(template({'a': server()}, parameters=parameters),
                   {'q': None})[0] == 'parameters'


def test_a_default_is_validated_only_if_it_is_used():
    parameters = declared('string', default='x', constraints=[
        {'length': {'min': 2}}])
    assert refusal(template({'a': server(param('p'))}, parameters=parameters)
                   )[0] == 'parameters.p'
    assert paths(template({'a': server()}, parameters=parameters)) == ['a']


@pytest.mark.parametrize('default, shown', [
    ({'a': 1}, ', a mapping,'), ([1], ', a list,'), ('big', " 'big'")])
def test_a_default_of_another_type_is_described(default, shown):
    parameters = {'p': {'type': 'number', 'default': default}}
    assert refusal(template(
        {'a': server(param('p'))}, parameters=parameters)) == (
        'parameters.p', f'the default{shown} is not of type number')


def test_a_hidden_value_is_not_shown():
    place, message = refusal(
        template({'a': server()}, parameters=declared(
            'number', hidden=True)), {'p': 'secret'})
    assert message == (
        'the value given for it in an environment or on the command line is '
        'not of type number')


def test_a_value_for_an_unknown_parameter_is_refused():
    assert refusal(template({'a': server()}, parameters=declared('string')),
                   {'size': 'x'}) == (
        'parameters', "the template has no parameter 'size'; it has 'p'")


@pytest.mark.parametrize('fields, place', [
    ({}, 'parameters.p'),
    ({'type': 'text'}, 'parameters.p.type'),
    ({'type': 'string', 'constraints': {}}, 'parameters.p.constraints'),
    ({'type': 'number', 'constraints': [{'range': {'max': 'nan'}}]},
     'parameters.p.constraints[0].range.max'),
    ({'type': 'string', 'constraints': [{'length': 7}]},
     'parameters.p.constraints[0].length'),
    ({'type': 'string', 'constraints': [{'length': {'min': 'x'}}]},
     'parameters.p.constraints[0].length.min'),
    ({'type': 'number', 'constraints': [{'modulo': {'step': 0}}]},
     'parameters.p.constraints[0].modulo'),
    ({'type': 'string', 'constraints': [{'allowed_values': 'x'}]},
     'parameters.p.constraints[0].allowed_values'),
])
def test_a_malformed_parameter_is_refused(fields, place):
    assert refusal(template({'a': server()}, parameters={'p': fields}),
                   {'p': '1'})[0] == place


def test_a_text_that_expands_beyond_the_limit_is_refused():
    value = 'm' * 200
    for _ in range(10):
        value = {'str_replace': {'template': 'mm' * 10, 'params': {
            'm': value}}}
    place, message = refusal(template({'a': server(value)}))
    assert place.startswith(FLAVOR)
    assert 'characters' in message


def test_too_much_text_in_parameters_is_refused():
    text = '["' + 'a' * 600_000 + '"]'
    place, message = refusal(template(
        {'a': server(param('p', 0)), 'b': server(param('q', 0))},
        parameters={'p': {'type': 'json', 'default': '["x"]'},
                    'q': {'type': 'json', 'default': text},
                    'r': {'type': 'json'}}), {'r': text})
    assert place == 'parameters.q'
    assert 'characters' in message


def test_too_much_evaluation_work_is_refused():
    many = [{'resource': 'a', 'location': {'list_join': [
        '/', param('p')]}} for _ in range(100)]
    place, message = refusal(template(
        {'a': server()}, {'g': {'members': many}}, parameters=declared(
            'comma_delimited_list', default=[''] * 500_000)))
    assert place.startswith('groups.g.members[')
    assert message
