# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic plan --explain``."""

import json

import pytest

PAIR = '''
name: pair
groups:
  - name: db
    members: [{name: node, count: 2, resources: {VCPU: 8},
               traits: {required: [CUSTOM_NVME]}}]
    policies: [{type: anti-affinity, level: rack}]
policies: [{type: affinity, level: az}]
'''


@pytest.fixture
def pair(terminal):
    return terminal.file('pair.yaml', PAIR)


def test_each_member_has_a_line_of_explanation(terminal, pair, zones):
    assert terminal.run('plan', pair, '--inventory', zones, '--explain') == 0
    lines = [line for line in terminal.out.splitlines() if ' on z' in line]
    assert [line.split()[0] for line in lines] == ['db/node-0', 'db/node-1']
    # Each zone has six hosts, three of them with the trait. The hosts of the
    # other zone and of its other racks are excluded.
    for line in lines:
        assert 'hosts: 12 enabled, 6 with trait CUSTOM_NVME' in line
        assert 'affinity az of pair rules out 3' in line
        assert '1 open, next best: z' in line


def test_json_explanations_have_their_own_key(terminal, pair, zones):
    assert terminal.run('plan', pair, '--inventory', zones, '--explain',
                        '--format', 'json') == 0
    answer = json.loads(terminal.out)
    why = {each['member']: each for each in answer['explain']}
    assert sorted(why) == ['db/node-0', 'db/node-1']
    at = {p['member']: p['host'] for p in answer['placements']}
    for member, each in why.items():
        assert each['host'] == at[member]
        assert each['hosts'][0] == {'condition': 'is enabled', 'left': 12}
        assert {'policy': 'affinity az', 'at': '', 'rules_out': 3} in (
            each['policies'])
        assert each['open'] == each['tried'] == 1
        assert each['next_best']['host'] not in at.values()
        assert each['next_best']['preferences'] == 0
        assert each['next_best']['objective'] > 0


def test_check_accepts_a_plan_with_explanations(
        terminal, pair, zones):
    terminal.run('plan', pair, '--inventory', zones, '--explain',
                 '--format', 'json')
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('check', pair, '--inventory', zones,
                        '--plan', plan) == 0


def test_without_the_option_nothing_is_explained(terminal, pair, zones):
    assert terminal.run('plan', pair, '--inventory', zones,
                        '--format', 'json') == 0
    assert 'explain' not in json.loads(terminal.out)


def test_a_group_without_a_plan_has_reasons_and_no_explanations(
        terminal, zones):
    group = terminal.file('crowd.yaml', PAIR.replace('count: 2', 'count: 4'))
    assert terminal.run('plan', group, '--inventory', zones,
                        '--explain') == 1
    assert terminal.out.splitlines() == [
        'pair cannot be placed:',
        '  db: anti-affinity rack needs 4 racks; az1 has 3',
        '  affinity az puts all 4 members into one az']


def test_an_equally_good_host_is_named_as_such(terminal, zones):
    group = terminal.file('one.yaml', '''
        name: one
        members: [{name: a, resources: {VCPU: 1}}]
        ''')
    assert terminal.run('plan', group, '--inventory', zones, '--objective',
                        'fewest-hosts', '--explain') == 0
    assert '11 open, next best: z1r1h2, as good' in terminal.out
