# SPDX-License-Identifier: Apache-2.0
"""Every mistake of a document is reported, with its line and a suggestion."""

import json
import re

import pytest

GROUP = """\
name: shop
colour: red
policies:
  - {type: afinity, level: rack}
  - {type: spread, levle: rack}
members:
  - name: web
    cuont: 3
    resources: {VCPU: 1}
  - name: db
  - name: cache
    flavor: m1.small
    resources: {VCPU: 1}
groups:
  - name: inner
    members:
      - {name: a, count: 0, resources: {VCPU: 1}}
      - {name: b, resources: {VCPU: 1}, skip: [1]}
"""


def mistakes(terminal, name, *words):
    assert terminal.run('plan', *words) == 2
    start = f'nova-holistic: {name}: '
    lines = terminal.err.splitlines()
    assert all(line.startswith(start) for line in lines)
    return [line.removeprefix(start) for line in lines]


def test_all_mistakes_of_a_group_are_reported(terminal, zones):
    group = terminal.file('shop.yaml', GROUP)
    found = mistakes(terminal, group, group, '--inventory', zones)
    for place, what, position in (
            ('colour', 'unknown key', (2, 1)),
            ('policies[0].type', "(did you mean 'affinity'?)", (4, 6)),
            ('policies[1].levle', "(did you mean 'level'?)", (5, 20)),
            ('members[0].cuont', "(did you mean 'count'?)", (8, 5)),
            ('members[1]', 'must have either flavor or resources', (10, 5)),
            ('members[2]', 'must have only one of flavor and resources',
             (11, 5)),
            ('groups[0].members[0].count', 'must be at least 1, not 0',
             (17, 19)),
            ('groups[0].members[1].skip[0]', '', (18, 48))):
        (line,) = [each for each in found if each.startswith(f'{place}: ')]
        assert what in line
        assert line.endswith('(line {}, column {})'.format(*position))
    assert len(found) == 8


@pytest.mark.parametrize('escaped', [False, True])
def test_a_mistake_below_a_key_with_an_emoji_has_its_own_position(
        terminal, zones, escaped):
    """JSON may write the character as two escapes."""
    group = terminal.file('group.json', json.dumps({
        'name': 'g', 'members': [{
            'name': 'a', 'resources': {'VCPU': 1}, 'metadata\U0001f680': [1]},
            {'name': 'b', 'resources': {'VCPU\U0001f680': 1}}],
    }, indent=1, ensure_ascii=escaped))
    first, second = mistakes(terminal, group, group, '--inventory', zones)
    assert first.endswith('(line 9, column 4)')
    assert second.endswith('(line 16, column 5)')


def test_positions_are_found_in_json_and_below_the_outer_key(terminal, zones):
    document = {'group': {'name': 'g', 'members': [
        {'name': 'a', 'resources': {'VCPU': -1}}]}}
    group = terminal.file('g.json', json.dumps(document, indent=1))
    line = 1 + json.dumps(document, indent=1).split('\n').index(
        '     "VCPU": -1')
    (found,) = mistakes(terminal, group, group, '--inventory', zones)
    assert found.startswith('members[0].resources.VCPU: ')
    assert found.endswith(f'(line {line}, column 6)')


def test_unknown_flavors_and_levels_are_reported_together(terminal, zones):
    group = terminal.file('g.yaml', """
name: g
members:
  - {name: a, flavor: m1.none}
  - {name: b, flavor: m1.gone}
policies:
  - {type: affinity, level: racks}
""")
    assert [re.sub('; [^(]*', ' ', line) for line in mistakes(
        terminal, group, group, '--inventory', zones)] == [
        "policies[0].level: unknown level 'racks' (did you mean 'rack'?) "
        '(line 7, column 22)',
        "members[0].flavor: unknown flavor 'm1.none' (line 4, column 15)",
        "members[1].flavor: unknown flavor 'm1.gone' (line 5, column 15)"]


def test_an_inventory_without_flavors_is_named_as_the_cause(terminal):
    group = terminal.file(
        'g.yaml', 'name: g\nmembers: [{name: a, flavor: m1.small}]')
    inventory = terminal.file('i.yaml', """
levels: [host]
hosts: [{name: h1, resources: {VCPU: {total: 4}}}]
""")
    (found,) = mistakes(terminal, group, group, '--inventory', inventory)
    assert found == ("members[0].flavor: unknown flavor 'm1.small'; the "
                     'inventory has no flavors (line 2, column 21)')


def test_all_mistakes_of_an_inventory_are_reported(terminal, shop):
    inventory = terminal.file('i.yaml', """\
levels: [rack, host]
hosts:
  - {name: h1, location: [], resources: {VCPU: {total: 4}}}
  - {name: h2, location: [r1], resources: {VCPU: {total: 4, reserved: 5}}}
""")
    assert [(line.partition(':')[0], line[line.rindex('('):])
            for line in mistakes(terminal, inventory, shop, '--inventory',
                                 inventory)] == [
        ('hosts[0].location', '(line 3, column 16)'),
        ('hosts[1].resources.VCPU.reserved', '(line 4, column 61)')]


@pytest.mark.parametrize('content', ['', '# only a comment\n', '---\n'])
@pytest.mark.parametrize('command', ['plan', 'template'])
def test_an_empty_file_is_called_empty(terminal, zones, content, command):
    name = terminal.file('empty.yaml', content)
    words = [] if command == 'template' else ['--inventory', zones]
    assert terminal.run(command, name, *words) == 2
    assert terminal.err == f'nova-holistic: {name}: the document is empty\n'


def test_no_more_than_a_hundred_mistakes_are_reported(terminal, zones):
    group = terminal.file('g.json', json.dumps({
        'name': 'g', 'members': [{'name': 'a b'} for _ in range(1000)]}))
    assert len(mistakes(terminal, group, group, '--inventory', zones)) == 100


def test_aliases_that_repeat_long_text_are_refused(terminal):
    bomb = terminal.file('bomb.yaml', f"""
heat_template_version: 2018-08-31
parameters:
  p: {{type: string, description: &text {'a' * 10_000}}}
resources:
  s: {{type: OS::Nova::Server, properties: {{flavor: m1.small}}}}
outputs:
  o: {{value: [{', '.join(['*text'] * 1000)}]}}
""")
    assert terminal.run('template', bomb) == 2
    assert 'aliases repeat more than 4194304 characters' in terminal.err
    assert sorted(path.name for path in terminal.folder.iterdir()) == [
        'bomb.yaml']


def test_a_local_file_may_have_any_length(terminal):
    inventory = terminal.file('i.yaml', '#' * 9 * 2**20 + """
levels: [host]
hosts: [{name: h1, resources: {VCPU: {total: 4}}}]
""")
    group = terminal.file(
        'g.yaml', 'name: g\nmembers: [{name: a, resources: {VCPU: 1}}]')
    assert terminal.run('plan', group, '--inventory', inventory) == 0


def test_a_similar_flavor_and_image_are_suggested(terminal):
    group = terminal.file('g.yaml', """
name: g
members:
  - {name: a, flavor: m1.smal}
  - {name: b, flavor: m1.small, image: debain}
""")
    inventory = terminal.file('i.yaml', """
levels: [host]
hosts: [{name: h1, resources: {VCPU: {total: 4}}}]
flavors: {m1.small: {VCPU: 1}, large: {VCPU: 4}}
images: {debian: {min_disk: 1}}
""")
    assert mistakes(terminal, group, group, '--inventory', inventory) == [
        "members[0].flavor: unknown flavor 'm1.smal' "
        "(did you mean 'm1.small'?) (line 4, column 15)",
        "members[1].image: unknown image 'debain' "
        "(did you mean 'debian'?) (line 5, column 33)"]


@pytest.mark.parametrize('key, place, position', [
    ('a]', "['a]']", None),
    ('a[b', "['a[b']", None),
    ('members: [{name: a, resources: {VCPU: 1}, "b].c": 1}]\nd',
     "members[0]['b].c']", (2, 43))])
def test_a_key_may_contain_brackets(terminal, zones, key, place, position):
    """The line is searched with the position and those of its containers.
    The search did not end, because no container of such a key was found."""
    group = terminal.file('shop.yaml', f'name: shop\n{key}: 1\n')
    line = next(each for each in mistakes(
        terminal, group, group, '--inventory', zones)
        if each.startswith(f'{place}: unknown key'))
    assert position is None or line.endswith(
        '(line {}, column {})'.format(*position)), line


ONE = 'members: [{name: a, resources: {VCPU: 1}}]'


@pytest.mark.parametrize('text, message, position', [
    ('# shop\nname: g\nmembers: []\n', 'the group has no members', (2, 1)),
    ('---\n\n{name: g}\n', 'the group has no members', (3, 1)),
    ('# shop\ngroup:\n  name: g\n', 'the group has no members', (2, 1)),
    ('{\n "group": {\n  "name": "g"\n }\n}', 'the group has no members',
     (2, 2)),
    (f'\n{ONE}\n', 'name is missing', (2, 1)),
    (f'# shop\n\ngroup:\n  {ONE}\n', 'name is missing', (3, 1)),
    ('# no group\n- a\n',
     'must be a mapping, not a list', (2, 1)),
    ('\nshop\n', "must be a mapping, not 'shop'", (2, 1)),
    ('\ngroup:\n', 'must be a mapping, not null', (2, 1)),
    ('# no resources\nheat_template_version: 2018-08-31\n',
     'resources is missing', (2, 1)),
])
def test_a_mistake_of_the_whole_document_has_its_line(
        terminal, zones, text, message, position):
    group = terminal.file('g.yaml', text)
    assert mistakes(terminal, group, group, '--inventory', zones) == [
        '{} (line {}, column {})'.format(message, *position)]


@pytest.mark.parametrize('text, place, position', [
    ('members: [{name: a, resources: {VCPU: 1}, count: '
     '{min: 0, desired: 0, max: 1}}]\n', 'members[0].count.desired', (2, 59)),
    ('groups: [{name: r, count: {min: 0, desired: 0, max: 1},\n'
     '          members: [{name: a, resources: {VCPU: 1}}]}]\n',
     'groups[0].count.desired', (2, 36)),
    ('groups: [{name: r, count: 2, members: [\n'
     '  {name: a, resources: {VCPU: 1}, count: {desired: 0, max: 1}}]}]\n',
     'groups[0].members[0].count.desired', (3, 43)),
])
def test_a_group_without_desired_members_names_a_number(
        terminal, zones, text, place, position):
    group = terminal.file('g.yaml', 'name: g\n' + text)
    assert mistakes(terminal, group, group, '--inventory', zones) == [
        '{}: the desired number of members is 0; it must be at least 1 '
        '(line {}, column {})'.format(place, *position)]


def test_mistakes_of_json_with_an_emoji_have_their_lines(terminal, zones):
    # json.dumps writes the emoji as two escapes.
    group = terminal.file('g.json', json.dumps({
        'name': 'shop \U0001f680', 'members': [
            {'name': 'a', 'resources': {'VCPU': -1}}]}))
    assert mistakes(terminal, group, group, '--inventory', zones) == [
        'members[0].resources.VCPU: must be at least 1, not -1 (line 1, '
        'column 71)']


@pytest.mark.parametrize('start', [
    '{"name": "\x7f\uffff",', '{"name": "a", "%s": 1,' % (1025 * 'k'),
    '{"name":\r\n"a"\r,'])
def test_mistakes_of_json_that_yaml_refuses_have_their_lines(
        terminal, zones, start):
    """YAML also refuses a line break before a colon, as below."""
    group = terminal.file('g.json', (
        start + '\n"members"\n:[{"name": "a", "flavor": "m1.tiny", '
        '"count": -1}, {"name": 1, "resources": {}}]}').encode())
    line = start.count('\r') + 3
    found = mistakes(terminal, group, group, '--inventory', zones)
    assert found[-2:] == [
        f'members[1].name: must be text, not 1 (line {line}, column 53)',
        'members[1].resources: must be a mapping of at least one key '
        f'(line {line}, column 64)']
    assert all(' (line ' in each for each in found)


def test_a_template_without_a_version_lacks_only_the_version(terminal, zones):
    group = terminal.file('g.yaml', '# shop\nresources: {a: {type: '
                          'OS::Nova::Server, properties: {flavor: big}}}\n')
    assert mistakes(terminal, group, group, '--inventory', zones) == [
        'heat_template_version is missing: a document with resources is a '
        'Heat template, which must have it (line 2, column 1)']


def test_all_mistakes_of_an_empty_document_have_its_line(terminal, zones):
    group = terminal.file('g.yaml', '\ngroup: {}\n')
    assert mistakes(terminal, group, group, '--inventory', zones) == [
        'name is missing (line 2, column 1)',
        'the group has no members (line 2, column 1)']


def test_a_key_that_an_inventory_lacks_has_the_line_of_its_mapping(
        terminal, shop):
    inventory = terminal.file('i.yaml', '# no hosts\nlevels: [host]\n')
    assert mistakes(terminal, inventory, shop, '--inventory', inventory) == [
        'hosts is missing (line 2, column 1)']


def test_a_key_that_a_plan_lacks_has_the_line_of_its_mapping(
        terminal, shop, zones):
    plan = terminal.file('plan.yaml', '# no status\ngroup: shop\n')
    assert terminal.run('check', shop, '--inventory', zones,
                        '--plan', plan) == 2
    assert terminal.err == (f'nova-holistic: {plan}: status is missing '
                            '(line 2, column 1)\n')
