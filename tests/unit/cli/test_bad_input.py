# SPDX-License-Identifier: Apache-2.0
"""Bad input is reported in one line with its position, and the exit code is
2."""

import pytest

ONE = '{name: a, resources: {VCPU: 1}}'

GROUPS = {
    'broken YAML': ('name: [shop', ''),
    'an unknown key': (
        f'name: g\ngroups: [{{name: w, members: [{ONE}], colour: red}}]',
        'groups[0].colour'),
    'an unknown policy type': (
        f'name: g\nmembers: [{ONE}]\npolicies: [{{type: magnetism}}]',
        'policies[0].type'),
    'a duplicate path': (f'name: g\nmembers: [{ONE}, {ONE}]',
                         'members[1].name'),
    'a path taken by a counted member': (
        'name: g\nmembers: [{name: a, count: 2, resources: {VCPU: 1}}, '
        '{name: a-1, resources: {VCPU: 1}}]', 'members[1].name'),
    'count 0': ('name: g\nmembers: [{name: a, count: 0, resources: '
                '{VCPU: 1}}]', 'members[0].count'),
    'negative resources': (
        'name: g\nmembers: [{name: a, resources: {VCPU: -1}}]',
        'members[0].resources.VCPU'),
    'an unknown flavor': ('name: g\nmembers: [{name: a, flavor: m1.none}]',
                          'members[0].flavor'),
    'an unknown level': (
        f'name: g\ngroups:\n- {{name: x, members: [{ONE}]}}\n- {{name: y, '
        f'members: [{ONE}], policies: [{{type: affinity, level: isle}}]}}',
        'groups[1].policies[0].level'),
    'adopted servers': (
        f'name: g\nmembers: [{ONE}]\nadopt: {{a: '
        '5f0a2f6e-8f3c-4a45-9d0e-3d1c7be0a6d1}', 'adopt'),
    'an empty group': ('name: g\nmembers: []', ''),
    'an empty nested group': (
        f'name: g\nmembers: [{ONE}]\ngroups: [{{name: w}}]', 'groups[0]'),
    'a document of 10 MB': (
        f'members: [{ONE}]\nname: ' + 'g' * 10_000_000, ''),
    'a name with a slash': (
        'name: g\nmembers: [{name: a/b, resources: {VCPU: 1}}]',
        'members[0].name'),
    'a cyclic alias': ('name: g\ngroups: &here\n- {name: w, groups: *here}',
                       ''),
    'a duplicate key': (f'name: g\nname: h\nmembers: [{ONE}]', ''),
    'an empty file': ('', ''),
    'a list': ('[1, 2]', ''),
    'binary junk': (b'\xff\xfe\x00\x01\x80junk', ''),
    'two documents': (f'name: g\nmembers: [{ONE}]\n---\nname: h', ''),
}


def one_line(terminal, start):
    assert terminal.out == ''
    assert terminal.err.count('\n') == 1
    assert terminal.err.startswith(start)
    assert len(terminal.err) > len(start) + 10
    assert len(terminal.err) < 400


@pytest.mark.parametrize('content, place', GROUPS.values(), ids=GROUPS.keys())
def test_an_invalid_group_is_refused_with_its_position(
        terminal, zones, content, place):
    group = terminal.file('group.yaml', content)
    assert terminal.run('plan', group, '--inventory', zones,
                        '--format', 'json') == 2
    one_line(terminal, f'nova-holistic: {group}: '
                       + (f'{place}: ' if place else ''))


@pytest.mark.parametrize('command', ['plan', 'check', 'map'])
def test_every_command_refuses_a_bad_inventory(
        terminal, shop, shop_plan, command):
    inventory = terminal.file('inventory.yaml', '''
        levels: [rack, host]
        hosts: [{name: h1, location: [r1],
                 resources: {VCPU: {total: -4}}}]
        ''')
    words = {'plan': (shop,), 'check': (shop, '--plan', shop_plan),
             'map': (shop_plan, '-o', 'shop.svg')}[command]
    assert terminal.run(command, *words, '--inventory', inventory) == 2
    one_line(terminal,
             f'nova-holistic: {inventory}: hosts[0].resources.VCPU.total: ')


@pytest.mark.parametrize('name, why', [
    ('gone.yaml', 'No such file or directory'),
    ('.', 'Is a directory'),
    ('', 'No such file or directory'),
])
def test_a_file_that_cannot_be_read_is_named(terminal, zones, name, why):
    assert terminal.run('plan', name, '--inventory', zones) == 2
    named = name or "''"
    assert terminal.err == f'nova-holistic: {named}: {why}\n'


@pytest.mark.parametrize('option, value', [
    ('--objective', 'beauty'), ('--solver', 'oracle')])
def test_an_unknown_plugin_is_reported_with_the_known_ones(
        terminal, shop, zones, option, value):
    assert terminal.run('plan', shop, '--inventory', zones,
                        option, value) == 2
    one_line(terminal, f'nova-holistic: unknown {option[2:]} {value!r}; ')


@pytest.mark.parametrize('words', [
    (),
    ('frobnicate',),
    ('help', 'frobnicate'),
    ('frobnicate', '--help'),
    ('plan',),
    ('plan', 'group.yaml'),
    ('plan', 'group.yaml', '--inventory', 'i.yaml', '--time-limit', '0'),
    ('plan', 'group.yaml', '--inventory', 'i.yaml', '--time-limit', 'nan'),
    ('plan', 'group.yaml', '--inventory', 'i.yaml', '--format', 'xml'),
    ('plan', 'group.yaml', '--inventory', 'i.yaml', '--frob'),
    ('check', 'group.yaml', '--inventory', 'i.yaml'),
    ('map', 'plan.json', '--inventory', 'i.yaml'),
])
def test_wrong_usage_is_reported_on_standard_error(terminal, words):
    assert terminal.run(*words) == 2
    assert terminal.out == ''
    assert ': error: ' in terminal.err.splitlines()[-1]


def test_an_infinite_time_limit_is_described(terminal):
    terminal.run('plan', 'group.yaml', '--inventory', 'i.yaml',
                 '--time-limit', 'inf')
    assert "'inf' is not a finite number above zero" in terminal.err
