# SPDX-License-Identifier: Apache-2.0
"""The example of the manual's page about volumes."""

import json
import pathlib
import re
import shlex

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture
def commands():
    """The commands of the page by name, with absolute file names."""
    page = (ROOT / 'doc/source/user/volumes.rst').read_text()
    lines = [shlex.split(line.replace('examples/', f'{ROOT}/examples/'))
             for line in re.findall(r'^    nova-holistic (.*)$', page,
                                    re.MULTILINE)]
    table, plan, check, draw = lines
    assert plan[-2:] == ['>', 'plan.json']
    return {'table': table, 'plan': plan[:-2], 'check': check, 'map': draw}


def test_the_example_puts_each_shard_into_one_rack(terminal, commands):
    assert terminal.run(*commands['table']) == 0
    assert 'VOLUME_GB' in terminal.out
    assert terminal.run(*commands['plan']) == 0
    where = {each['member']: (each['host'], each['location'])
             for each in json.loads(terminal.out)['placements']}
    # Only 100 GiB are free in the first rack: 2000 - 200 - 1700.
    assert {where[f'shard-{n}/data'][0] for n in (0, 1)} == {
        'storage2@lvm#fast', 'storage3@lvm#fast'}
    for n in (0, 1):
        assert len({tuple(where[f'shard-{n}/{name}'][1])
                    for name in ('server', 'root', 'data')}) == 1
    terminal.file('plan.json', terminal.out)
    assert terminal.run(*commands['check']) == 0
    assert terminal.out == 'valid: 6 members placed, no policy is violated\n'
    assert terminal.run(*commands['map']) == 0
    picture = (terminal.folder / 'plan.svg').read_text()
    assert 'storage3@lvm#fast' in picture
    assert terminal.run('map', 'plan.json', *commands['map'][2:4],
                        '-o', 'plan.svg') == 0


def test_a_plan_that_overfills_a_pool_is_refused(terminal, commands):
    terminal.run(*commands['plan'])
    plan = json.loads(terminal.out)
    for each in plan['placements']:
        if each['member'].endswith(('root', 'data')):
            each.update(host='storage2@lvm#fast', location=['rack2'])
            each['node'] = each['host']
    terminal.file('plan.json', json.dumps(plan))
    assert terminal.run(*commands['check']) == 1
    assert 'host storage2@lvm#fast has 1000 VOLUME_GB, of which 600 are ' \
        'used: no room for 640' in terminal.out


def test_a_plan_names_a_pool_of_an_nfs_export(terminal, commands):
    export = 'storage2@nfs#10.0.0.2:/srv/volumes'
    inventory = terminal.file('exports.yaml', (
        ROOT / 'examples/storage.yaml').read_text().replace(
            'storage2@lvm#fast', export))
    group = f'{ROOT}/examples/volumes.yaml'
    assert terminal.run('plan', group, '--inventory', inventory,
                        '--format', 'json') == 0
    assert export in terminal.out
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('check', group, '--inventory', inventory,
                        '--plan', plan) == 0
    assert terminal.run('map', plan, '--inventory', inventory,
                        '-o', 'plan.svg') == 0


def test_a_mistake_has_its_position_and_line(terminal):
    group = terminal.file('group.yaml', '''
name: g
members:
  - {name: v, kind: volume, size: 0}
''')
    assert terminal.run('plan', group, '--inventory',
                        ROOT / 'examples/storage.yaml') == 2
    assert terminal.err == (
        f'nova-holistic: {group}: members[0].size: must be at least 1, not '
        '0 (line 4, column 29)\n')
