# SPDX-License-Identifier: Apache-2.0
"""The command plan: its formats of output, its exit codes and its messages."""

import io
import json

from nova_holistic.cli import plan_work
from nova_holistic.model.plan import Reason, Unknown
import pytest
import yaml

TOO_MANY = '''
name: crowd
members: [{name: node, count: 13, resources: {VCPU: 1}}]
policies: [{type: anti-affinity, level: host}]
'''


def test_the_shop_is_planned_in_one_zone(terminal, shop, zones):
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--format', 'json') == 0
    answer = json.loads(terminal.out)
    assert answer['status'] == 'planned'
    assert answer['group'] == 'shop'
    at = {p['member']: p for p in answer['placements']}
    assert sorted(at) == sorted(
        [f'web/server-{n}' for n in range(6)]
        + [f'db/node-{n}' for n in range(3)]
        + [f'cache/node-{n}' for n in range(3)])
    assert len({p['location'][0] for p in at.values()}) == 1
    assert len({at[f'web/server-{n}']['host'] for n in range(6)}) == 6
    assert len({at[f'db/node-{n}']['location'][1] for n in range(3)}) == 3
    assert answer['preferences'] == [
        {'policy': 'soft-anti-affinity', 'at': 'cache', 'violations': 0,
         'level': 'host', 'weight': 1.0}]


def test_json_output_has_exactly_the_keys_of_a_plan(
        terminal, shop, zones):
    terminal.run('plan', shop, '--inventory', zones, '--format', 'json')
    answer = json.loads(terminal.out)
    assert sorted(answer) == ['group', 'objective', 'placements',
                              'preference_cost', 'preferences', 'seconds',
                              'status']
    assert answer['preference_cost'] == {
        'value': 0.0, 'bound': 0.0, 'gap': 0.0}
    assert sorted(answer['placements'][0]) == [
        'host', 'location', 'member', 'node']
    assert sorted(answer['objective']) == ['bound', 'gap', 'name', 'value']
    assert sorted(answer['seconds']) == ['build', 'snapshot', 'solve',
                                         'total']
    assert terminal.err == ''


def test_yaml_output_equals_json_output(terminal, shop, zones):
    terminal.run('plan', shop, '--inventory', zones, '--format', 'json')
    as_json = json.loads(terminal.out)
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--format', 'yaml') == 0
    as_yaml = yaml.safe_load(terminal.out)
    del as_json['seconds'], as_yaml['seconds']
    assert as_yaml == as_json
    assert terminal.err == ''


def test_the_table_names_every_member_with_its_host(
        terminal, shop, zones, shop_plan):
    placements = json.loads(shop_plan.read_text())['placements']
    assert terminal.run('plan', shop, '--inventory', zones) == 0
    rows = [line.split() for line in terminal.out.splitlines()]
    for p in placements:
        assert [p['member'].split('/')[0], p['member'], p['host'],
                '/'.join(p['location'])] in rows
    assert ['soft-anti-affinity', 'host', 'cache', '1', '0'] in rows
    assert terminal.err == ''


def test_the_table_shows_existing_and_added_load(terminal, zones):
    group = terminal.file('one.yaml', '''
        name: one
        members: [{name: a, location: az1/rack1/z1r1h1,
                   resources: {VCPU: 4, MEMORY_MB: 1024}}]
        ''')
    terminal.run('plan', group, '--inventory', zones)
    assert terminal.out.splitlines()[0].startswith(
        'one: 1 member on 1 of 12 hosts; objective spread ')
    # 1 VCPU and 8192 MB are used before; 16 x 2.0 and 131072 - 2048 exist.
    assert ('z1r1h1  1        5/32 (+4)  9216/129024 (+1024)  0/1000'
            in terminal.out.splitlines())


def test_output_to_a_pipe_has_no_colour_and_no_wrapping(
        terminal, zones):
    name = 'a' * 200
    group = terminal.file('long.yaml', json.dumps({
        'name': 'long', 'members': [{'name': name, 'resources': {'VCPU': 1}}]
    }))
    terminal.run('plan', group, '--inventory', zones)
    assert '\x1b' not in terminal.out
    assert any(name in line.split() for line in terminal.out.splitlines())


def test_names_are_never_interpreted_as_markup(terminal, zones):
    group = terminal.file('odd.yaml', json.dumps({
        'name': '[red]:smile:[/red]',
        'members': [{'name': 'a', 'resources': {'VCPU': 1}}]}))
    assert terminal.run('plan', group, '--inventory', zones) == 0
    assert '[red]:smile:[/red]  a' in terminal.out


@pytest.mark.parametrize('objective, hosts', [
    ('fewest-hosts', 1), ('stack', 1), ('spread', 4)])
def test_the_objective_determines_the_plan(terminal, zones, objective, hosts):
    group = terminal.file('four.yaml', '''
        name: four
        members: [{name: n, count: 4, resources: {VCPU: 4}}]
        ''')
    assert terminal.run('plan', group, '--inventory', zones, '--objective',
                        objective, '--format', 'json') == 0
    answer = json.loads(terminal.out)
    assert len({p['host'] for p in answer['placements']}) == hosts
    assert answer['objective']['name'] == objective


def test_cbc_finds_as_good_a_plan_as_highs(terminal, shop, zones):
    values = []
    for solver in ('highs', 'cbc'):
        assert terminal.run('plan', shop, '--inventory', zones, '--solver',
                            solver, '--format', 'json') == 0
        values.append(json.loads(terminal.out)['objective']['value'])
    assert values[0] == pytest.approx(values[1])


def test_an_unplaceable_group_is_reported_with_reasons(terminal, zones):
    group = terminal.file('crowd.yaml', TOO_MANY)
    assert terminal.run('plan', group, '--inventory', zones,
                        '--format', 'json') == 1
    answer = json.loads(terminal.out)
    assert answer['status'] == 'unplaceable'
    assert answer['reasons']
    for reason in answer['reasons']:
        assert sorted(reason) == ['at', 'message']
    assert terminal.run('plan', group, '--inventory', zones) == 1
    lines = terminal.out.splitlines()
    assert lines[0] == 'crowd cannot be placed:'
    assert answer['reasons'][0]['message'] in lines[1]
    assert terminal.err == ''


def test_flavors_of_the_inventory_can_be_used(terminal, zones):
    inventory = terminal.file('flavors.yaml', zones.read_text() + (
        'flavors:\n  m1.small: {VCPU: 1, MEMORY_MB: 2048, DISK_GB: 20}\n'))
    group = terminal.file('group.yaml', '''
        name: g
        members: [{name: a, flavor: m1.small}]
        ''')
    assert terminal.run('plan', group, '--inventory', inventory) == 0
    assert '(+2048)' in terminal.out


@pytest.mark.parametrize('key, value, mistake', [
    ('members', '[{name: node, flavor: none}]',
     "groups[0].members[0].flavor: unknown flavor 'none'"),
    ('policies', '[{type: affinity, level: moon}]',
     "groups[0].policies[0].level: unknown level 'moon'")])
def test_mistakes_of_a_group_without_a_replica_are_found(
        terminal, zones, tmp_path, key, value, mistake):
    group = {'name': 'more', 'count': {'min': 0, 'desired': 0, 'max': 2},
             'members': [{'name': 'node', 'resources': {'VCPU': 1}}]}
    web = {'name': 'web', 'resources': {'VCPU': 1}}
    document = tmp_path / 'group.yaml'
    for keys, code in ({}, 0), ({key: yaml.safe_load(value)}, 2):
        document.write_text(yaml.safe_dump({
            'name': 'shop', 'members': [web], 'groups': [{**group, **keys}]}))
        assert terminal.run('plan', document, '--inventory', zones) == code
    assert mistake in terminal.err


def test_a_group_is_read_from_standard_input(
        terminal, shop, zones, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(shop.read_bytes()))
    monkeypatch.setattr('sys.stdin', stdin)
    assert terminal.run('plan', '-', '--inventory', zones) == 0


def test_standard_input_cannot_be_two_documents(
        terminal, shop, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(shop.read_bytes()))
    monkeypatch.setattr('sys.stdin', stdin)
    assert terminal.run('plan', '-', '--inventory', '-') == 2
    assert terminal.err == (
        'nova-holistic: standard input: closed, or already read\n')


def test_an_expired_time_limit_exits_with_3(
        terminal, shop, zones, monkeypatch):
    # No real group makes a solver exceed its time limit on every machine.
    monkeypatch.setattr(plan_work, 'solve', lambda *args, **kwargs:
                        Unknown('no plan within 1 s'))
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--format', 'json') == 3
    assert json.loads(terminal.out)['status'] == 'unknown'
    assert terminal.run('plan', shop, '--inventory', zones) == 3
    assert terminal.out == 'shop: no plan within 1 s\n'


def test_a_plan_that_fails_the_check_is_an_internal_error(
        terminal, shop, zones, monkeypatch):
    # The solver does not produce such a plan.
    monkeypatch.setattr(plan_work, 'check', lambda *args: (
        Reason('web: anti-affinity', 'z1r1h1 holds 2'),))
    assert terminal.run('plan', shop, '--inventory', zones) == 70
    assert terminal.out == ''
    assert terminal.err == (
        'nova-holistic: internal error: InvalidPlan: web: anti-affinity: '
        'z1r1h1 holds 2 (--debug shows where)\n')


def test_similar_preferences_are_listed_with_level_and_weight(
        terminal, zones):
    wanted = terminal.file('wanted.yaml', '''
name: crowd
members: [{name: node, count: 3, resources: {VCPU: 1}}]
policies:
  - {type: anti-affinity, level: az, weight: 0.5}
  - {type: anti-affinity, level: rack, weight: 2}
''')
    assert terminal.run('plan', wanted, '--inventory', zones) == 0
    assert ['anti-affinity', 'az', 'crowd', '0.5', '1'] in [
        line.split() for line in terminal.out.splitlines()]
    assert ['anti-affinity', 'rack', 'crowd', '2', '0'] in [
        line.split() for line in terminal.out.splitlines()]
    assert terminal.run('plan', wanted, '--inventory', zones,
                        '--format', 'json') == 0
    assert json.loads(terminal.out)['preferences'] == [
        {'policy': 'anti-affinity', 'at': '', 'violations': 1,
         'level': 'az', 'weight': 0.5},
        {'policy': 'anti-affinity', 'at': '', 'violations': 0,
         'level': 'rack', 'weight': 2.0}]
