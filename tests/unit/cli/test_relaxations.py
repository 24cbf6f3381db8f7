# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic plan --relaxations`` and ``--headroom``."""

import json

import pytest
import yaml

from nova_holistic.documents.relaxations import (
    headroom_line, relaxation_lines)
from nova_holistic.documents.schemas import relaxations as schemas
from nova_holistic.documents.validation import validator

TOO_LARGE = '''
name: crowd
members: [{name: node, count: 13, resources: {VCPU: 1}}]
policies: [{type: anti-affinity, level: host}]
'''
NOTHING = {'preferences': [], 'counts': [], 'hosts': None, 'undecided': []}


@pytest.fixture
def too_large(terminal):
    return terminal.file('crowd.yaml', TOO_LARGE)


def test_relaxations_are_lines_after_the_reasons(terminal, too_large, zones):
    assert terminal.run('plan', too_large, '--inventory', zones,
                        '--relaxations') == 1
    assert terminal.out.splitlines() == [
        'crowd cannot be placed:',
        '  anti-affinity host needs 13 hosts; there are 12',
        '',
        'each of these changes makes it fit:',
        '  policies[0] (anti-affinity host) as a preference',
        '  members[0].count (node) 12 instead of 13; no larger count fits',
        '  1 more host, like z1r1h1 (1 in az1/rack1); fewer are not enough']


@pytest.mark.parametrize('format, read', [
    ('json', json.loads), ('yaml', yaml.safe_load)])
def test_relaxations_have_separate_keys_in_documents(terminal, too_large,
                                                     zones, format, read):
    terminal.run('plan', too_large, '--inventory', zones, '--relaxations',
                 '--headroom', '--format', format)
    answer = read(terminal.out)
    assert sorted(answer) == ['headroom', 'reasons', 'relaxations', 'status']
    validator(schemas.RELAXATIONS)(answer['relaxations'])
    assert answer['relaxations']['hosts']['number'] == 1
    assert answer['headroom'] == {'at_least': 0, 'at_most': 0}


def test_a_plan_has_no_additions_by_default(terminal, too_large, zones):
    terminal.run('plan', too_large, '--inventory', zones, '--format', 'json')
    assert sorted(json.loads(terminal.out)) == ['reasons', 'status']


def test_a_plan_has_no_relaxations(terminal, shop, zones):
    assert terminal.run('plan', shop, '--inventory', zones, '--relaxations',
                        '--format', 'json') == 0
    assert 'relaxations' not in json.loads(terminal.out)


def test_the_headroom_of_a_plan_is_its_last_line(terminal, shop, zones):
    assert terminal.run('plan', shop, '--inventory', zones,
                        '--headroom') == 0
    assert terminal.out.splitlines()[-1] == 'headroom: exactly 2 copies fit'


def test_check_accepts_a_plan_with_headroom(terminal, shop, zones):
    terminal.run('plan', shop, '--inventory', zones, '--headroom',
                 '--format', 'json')
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('check', shop, '--inventory', zones,
                        '--plan', plan) == 0


@pytest.mark.parametrize('document, lines', [
    (NOTHING, ['no preference, lower count or number of hosts of an existing '
               'kind makes it fit']),
    ({**NOTHING, 'undecided': ['policies[0]', 'hosts']},
     ['not decided: policies[0], hosts']),
    ({**NOTHING, 'hosts': {'number': 3, 'in_new_domains': True,
                           'smallest': False}},
     ['each of these changes makes it fit:',
      '  3 more hosts, some of them in new domains; fewer may be enough']),
    ({**NOTHING, 'cloud': 'eu/ams', 'hosts': {
        'number': 1, 'in_new_domains': False, 'smallest': True}},
     ['each of these changes makes it fit into cloud eu/ams:',
      '  1 more host; fewer are not enough']),
    ({**NOTHING, 'preferences': [{'smallest': True, 'rules': [
        {'position': 'policies[0]', 'at': '', 'name': 'affinity az'},
        {'position': 'groups[0].policies[0]', 'at': 'db',
         'name': 'spread rack'}]}]},
     ['each of these changes makes it fit:',
      '  policies[0] (affinity az) and groups[0].policies[0] (db: spread '
      'rack) as preferences; fewer are not enough'])])
def test_relaxations_in_words(document, lines):
    validator(schemas.RELAXATIONS)(document)
    assert [*relaxation_lines(document)] == lines


@pytest.mark.parametrize('least, most, line', [
    (0, 0, 'no copy fits'), (1, 1, 'exactly 1 copy fits'),
    (3, 3, 'exactly 3 copies fit'),
    (3, 5, 'at least 3 and at most 5 copies fit'),
    (3, None, 'at least 3 copies fit; no upper bound is known')])
def test_headroom_in_words(least, most, line):
    assert headroom_line({'at_least': least, 'at_most': most}) == (
        f'headroom: {line}')
