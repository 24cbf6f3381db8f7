# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic template`` with nested templates and environments."""

import pathlib
import re

import pytest
import yaml

STACK = '''
heat_template_version: 2018-08-31
parameters: {size: {type: number}}
groups:
  data: {members: [nodes], policies: [{type: anti-affinity, level: host}]}
resources:
  net: {type: parts/net.yaml}
  master: {type: My::Node}
  nodes:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: size}
      resource_def: {type: parts/node.yaml}
'''
NODE = '''
heat_template_version: 2018-08-31
parameters: {flavor: {type: string}}
resources:
  server:
    type: OS::Nova::Server
    properties: {flavor: {get_param: flavor}, user_data: {get_file: boot.sh}}
'''
NET = '''
heat_template_version: 2018-08-31
resources: {net: {type: OS::Neutron::Net}}
'''
ENVIRONMENT = '''
parameters: {size: 3}
parameter_defaults: {flavor: m1.small}
resource_registry: {"My::Node": ../in/parts/node.yaml}
'''


@pytest.fixture
def stack(terminal):
    for folder in ('in/parts', 'env'):
        (terminal.folder / folder).mkdir(parents=True)
    for name, text in (('parts/node.yaml', NODE), ('parts/net.yaml', NET),
                       ('../env/e.yaml', ENVIRONMENT)):
        (terminal.folder / 'in' / name).write_text(text)
    return terminal.file('in/stack.yaml', STACK)


def loaded(name):
    return yaml.safe_load(pathlib.Path(name).read_text())


def test_nested_templates_and_environments_are_read(terminal, stack):
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml', '-o', 'out') == 0
    assert terminal.out.splitlines() == [
        'out/stack-group.yaml', 'out/stack-template.yaml',
        'out/stack-node.yaml']
    group = loaded('out/stack-group.yaml')['group']
    (data, master) = sorted(group['groups'], key=lambda each: each['name'])
    assert master['members'] == [{'name': 'server', 'flavor': 'm1.small'}]
    assert [each['name'] for each in data['groups'][0]['groups']] == [
        '0', '1', '2']
    # References to files are valid in the new folder, too.
    resources = loaded('out/stack-template.yaml')['resources']
    assert resources['net']['type'] == '../in/parts/net.yaml'
    assert resources['master']['type'] == 'stack-node.yaml'
    server = loaded('out/stack-node.yaml')['resources']['server']
    assert server['properties']['user_data'] == {
        'get_file': '../in/parts/boot.sh'}


def test_a_parameter_takes_precedence_over_environments(terminal, stack):
    assert terminal.run(
        'template', 'in/stack.yaml', '--environment', 'env/e.yaml',
        '--parameter', 'size=1', '-o', 'out') == 0
    group = loaded('out/stack-group.yaml')['group']
    nodes = next(each for each in group['groups'] if each['name'] == 'data')
    assert len(nodes['groups'][0]['groups']) == 1


@pytest.mark.parametrize('text, message', [
    ('parameters: [1]', 'env/e.yaml: parameters: must be a mapping'),
    ('resource: {}', 'env/e.yaml: resource: this section'),
    ('resource_registry: {a: 1}', 'env/e.yaml: resource_registry.a: must be'),
    ('resource_registry: {resources: {a: {"My::Node": b.yaml}}}',
     "env/e.yaml: resource_registry.resources.a['My::Node']: types of single"),
    ('{parameters: {size: 1}, resource_registry: {"My::Node": none.yaml}}',
     'env/none.yaml: No such file'),
    ('parameters: {sise: 2}', "the template has no parameter 'sise'"),
    ('parameters: {size: many}', "parameters.size: the value 'many' given for "
     'it in an environment or on the command line is not of type number'),
    ('resource_registry: {"My::Node": A, A: B, B: A}',
     "in/stack.yaml: resources.master.type: resource_registry: the type 'B' "
     "refers to itself, directly or through other types (line 8"),
    ('resource_registry: {resources: [1]}',
     'env/e.yaml: resource_registry.resources: must be a mapping, not a list'),
    ('parameters: {}\nparameters: {}',
     "env/e.yaml: duplicate key 'parameters', line 2, column 1\n"),
    ('resource_registry: {resources: {web: 5}}',
     'env/e.yaml: resource_registry.resources.web: must be a mapping, not 5'),
    ('resource_registry: {resources: {web: [[a]]}}',
     'resource_registry.resources.web: must be a mapping, not a list'),
])
def test_a_mistake_names_its_file(terminal, stack, text, message):
    (terminal.folder / 'env/e.yaml').write_text(text)
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml', '-o', 'out') == 2
    assert message in terminal.err
    assert not (terminal.folder / 'out').exists()


def test_null_in_an_environment_stands_for_the_default(terminal, stack):
    stack.write_text(STACK.replace('{type: number}',
                                   '{type: number, default: 2}'))
    (terminal.folder / 'env/e.yaml').write_text(ENVIRONMENT.replace(
        'size: 3', 'size: null'))
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml', '-o', 'out') == 0
    group = loaded('out/stack-group.yaml')['group']
    nodes = next(each for each in group['groups'] if each['name'] == 'data')
    assert len(nodes['groups'][0]['groups']) == 2


@pytest.mark.parametrize('text', ['', '# nothing yet\n', '---\n', '{}'])
def test_an_environment_may_be_empty(terminal, stack, text):
    (terminal.folder / 'env/empty.yaml').write_text(text)
    for names in ('empty', 'e'), ('e', 'empty'):
        assert terminal.run('template', 'in/stack.yaml', *(
            word for name in names
            for word in ('--environment', f'env/{name}.yaml')),
            '-o', 'out') == 0


@pytest.mark.parametrize('name', [r'a\0.yaml', 'file:///tmp/%00.yaml'])
def test_a_file_name_with_a_null_character_is_a_mistake(
        terminal, stack, name):
    stack.write_text(STACK.replace('parts/net.yaml', f'"{name}"'))
    (line,) = lines(terminal)
    assert line.startswith('in/stack.yaml: resources.net.type: ')
    assert 'no name of a file contains a null character (line 7' in line


def test_a_mistake_in_a_nested_template_has_its_line(terminal, stack):
    (terminal.folder / 'in/parts/node.yaml').write_text(NODE.replace(
        'user_data', 'scheduler_hints: {holistic_group: a}, user_data'))
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml') == 2
    mistake = (
        ': resources.server.properties.scheduler_hints.holistic_group: is '
        'reserved for the pointer to the member, which nova-holistic adds '
        '(line 7, column 65)')
    # The environment names the same file by another path.
    paths = terminal.folder / 'in/parts/node.yaml', 'parts/node.yaml'
    assert terminal.err.splitlines() == [
        f'nova-holistic: in/stack.yaml: {path}{mistake}' for path in paths]


def lines(terminal, *words):
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml', *words) == 2
    return [line.removeprefix('nova-holistic: ')
            for line in terminal.err.splitlines()]


def test_mistakes_of_a_whole_nested_template_have_its_lines(terminal, stack):
    (terminal.folder / 'in/parts/net.yaml').write_text(
        '# no resources\nheat_template_version: 2018-08-31\ncolour: red\n')
    assert [re.sub('; known are [^(]*', ' ', line)
            for line in lines(terminal)] == [
        'in/stack.yaml: parts/net.yaml: colour: unknown key (line 3, '
        'column 1)',
        'in/stack.yaml: parts/net.yaml: resources is missing (line 2, '
        'column 1)']


@pytest.mark.parametrize('mistake, message', [
    ('resources: {}', "duplicate key 'resources', line 3, column 1"),
    ('1: 2', 'a key must be a string, line 3, column 1'),
    ('a: .nan', '.nan is not a finite number, line 3, column 4')])
def test_a_nested_template_that_cannot_be_read_has_one_position(
        terminal, stack, mistake, message):
    (terminal.folder / 'in/parts/net.yaml').write_text(
        f'heat_template_version: 2018-08-31\nresources: {{}}\n{mistake}\n')
    assert lines(terminal) == [f'in/stack.yaml: parts/net.yaml: {message}']


def test_a_missing_nested_template_has_the_line_of_its_use(terminal, stack):
    """The other mistakes are reported as well."""
    (terminal.folder / 'in/parts/net.yaml').unlink()
    (terminal.folder / 'in/parts/node.yaml').write_text('')
    stack.write_text(STACK + '  spare: {}\n')
    assert sorted(lines(terminal)) == [
        f'in/stack.yaml: {terminal.folder}/in/parts/node.yaml: the document '
        'is empty',
        'in/stack.yaml: parts/node.yaml: the document is empty',
        'in/stack.yaml: resources.net.type: parts/net.yaml: No such file or '
        'directory (line 7, column 9)',
        'in/stack.yaml: resources.spare: type is missing (line 14, '
        'column 3)']


def test_too_deep_nested_templates_have_the_line_of_their_use(
        terminal, stack):
    (terminal.folder / 'in/parts/net.yaml').write_text(
        'heat_template_version: 2018-08-31\n'
        'resources: {net: {type: net.yaml}}\n')
    (line,) = lines(terminal)
    assert line == ('in/stack.yaml: parts/net.yaml: ' + 'net.yaml: ' * 4
                    + 'resources.net.type: net.yaml: nested stacks are more '
                    'than 5 levels deep (line 2, column 19)')


@pytest.mark.parametrize('text, position', [
    ('heat_template_versio: 2018-08-31\nresources: {}', (1, 1)),
    ('# a list\n- net', (2, 1))])
def test_a_nested_template_without_a_version_is_a_mistake(
        terminal, stack, text, position):
    """Its servers would be left out of the group without a message."""
    (terminal.folder / 'in/parts/net.yaml').write_text(text)
    assert lines(terminal) == [
        'in/stack.yaml: parts/net.yaml: is not a Heat template: it has no '
        'heat_template_version (line {}, column {})'.format(*position)]


def test_nested_templates_of_other_formats_have_no_servers(terminal, stack):
    (terminal.folder / 'in/parts/net.yaml').write_text(
        'AWSTemplateFormatVersion: 2010-09-09\nResources: {}\n')
    assert terminal.run('template', 'in/stack.yaml', '--environment',
                        'env/e.yaml', '-o', 'out') == 0


def test_a_mistake_in_one_of_several_environments_has_its_line(
        terminal, stack):
    other = terminal.file('env/f.yaml', '# sizes\nparameter: {size: 2}\n')
    (line,) = lines(terminal, '--environment', 'env/f.yaml')
    assert line.startswith(f'{other.relative_to(terminal.folder)}: parameter: '
                           'this section of environments is not supported; ')
    assert line.endswith('(line 2, column 1)')
