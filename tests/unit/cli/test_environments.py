# SPDX-License-Identifier: Apache-2.0
"""Several environments of a template are merged as Heat merges them."""

import pathlib

import pytest
import yaml

STACK = '''
heat_template_version: 2018-08-31
parameters:
  count: {type: number, default: 1}
  zones: {type: comma_delimited_list, default: az1}
  flavor: {type: string, default: m1}
  sizes: {type: json, default: {}}
resources:
  web:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def:
        type: OS::Nova::Server
        properties:
          flavor: {get_param: flavor}
          availability_zone: {list_join: [+, {get_param: zones}]}
'''
SERVER = '''
heat_template_version: 2018-08-31
parameters: {flavor: {type: string}, availability_zone: {type: string}}
resources:
  inner: {type: OS::Nova::Server, properties: {flavor: {get_param: flavor}}}
'''


@pytest.fixture
def group(terminal):
    """A function that writes environments; returns the group document."""
    def read(*environments, stack=STACK):
        terminal.file('stack.yaml', stack)
        terminal.file('server.yaml', SERVER)
        words = ['template', 'stack.yaml', '-o', 'out']
        for number, text in enumerate(environments):
            terminal.file(f'{number}.yaml', text)
            words += ['--environment', f'{number}.yaml']
        assert terminal.run(*words) == 0, terminal.err
        return yaml.safe_load(pathlib.Path(
            'out/stack-group.yaml').read_text())['group']
    return read


def test_values_are_merged_by_their_strategies(group):
    strategies = ('parameter_merge_strategies: '
                  '{default: merge, count: overwrite}\n')
    (web,) = group(
        strategies + 'parameters: {count: 4, zones: "a,b", flavor: m1}',
        strategies + 'parameters: {count: 2, zones: c, flavor: .small}'
    )['members']
    assert web == {'name': 'web', 'count': 2, 'flavor': 'm1.small',
                   'availability_zone': 'a+b+c'}


def test_null_keeps_the_value_of_an_earlier_environment(group):
    (web,) = group('parameters: {count: 3}',
                   'parameters: {count: null}')['members']
    assert web['count'] == 3


@pytest.mark.parametrize('first, second, message', [
    ('parameters: {flavor: a}',
     'parameter_merge_strategies: {flavor: merge}\nparameters: {flavor: b}',
     '1.yaml: parameter_merge_strategies.flavor: must be overwrite, the '
     'strategy in the first environment that has a value for the parameter '
     '(line 1'),
    ('parameter_merge_strategies: {count: merge}\nparameters: {count: 1}',
     'parameters: {count: 2}',
     '1.yaml: parameters.count: cannot be merged with the value of an earlier '
     'environment: 2; the strategy of the parameter is merge (line 1'),
    ('parameter_merge_strategies: {sizes: deep_merge}\n'
     'parameters: {sizes: {a: 1}}', 'parameters: {sizes: [1]}',
     '1.yaml: parameters.sizes: cannot be merged'),
    ('parameter_merge_strategies: {default: join}', '{}',
     "0.yaml: parameter_merge_strategies.default: must be overwrite, merge or "
     "deep_merge, not 'join'"),
    ('resource_registry: {base_url: "file:///tmp"}', '{}',
     '0.yaml: resource_registry.base_url: is not supported'),
])
def test_values_that_cannot_be_merged_are_refused(
        terminal, first, second, message):
    terminal.file('stack.yaml', STACK)
    terminal.file('0.yaml', first)
    terminal.file('1.yaml', second)
    assert terminal.run('template', 'stack.yaml', '--environment', '0.yaml',
                        '--environment', '1.yaml', '-o', 'out') == 2
    assert message in terminal.err


def test_a_pattern_replaces_a_part_of_a_type(group):
    stack = STACK.replace('OS::Nova', 'My::Nova')
    (web,) = group('resource_registry: {"My::*": "OS::*"}',
                   stack=stack)['members']
    assert (web['name'], web['flavor']) == ('web', 'm1')


def test_a_type_without_a_target_keeps_its_meaning(group):
    (web,) = group('resource_registry: {"OS::Nova::Server": null}')['members']
    assert web['name'] == 'web'


def test_the_template_of_a_type_contains_resources_of_this_type(group):
    (web,) = group('resource_registry: {"OS::Nova::Server": server.yaml}')[
        'groups']
    assert web['groups'] == [{'name': '0', 'members': [
        {'name': 'inner', 'flavor': 'm1'}]}]
