# SPDX-License-Identifier: Apache-2.0
"""What a user types, on a terminal that reaches the API over HTTP, with an
engine behind it and a real Placement."""

import json

import pytest
import yaml

from tests.functional.engine.world import shop, SMALL
from tests.unit.api.service import ADMIN, READER

COMMANDS = {
    'group': {'create', 'delete', 'extend', 'list', 'map', 'release',
              'replan', 'set', 'show', 'unset'},
    'member': {'add', 'list', 'remove'},
    'plan': {'create', 'show'},
}


@pytest.fixture
def written(tmp_path):
    """A function that writes a document into a file."""
    def written(document=None, name='shop.yaml'):
        (tmp_path / name).write_text(yaml.safe_dump(document or shop()))
        return tmp_path / name
    return written


@pytest.fixture
def type_(terminal):
    """A function that types a command that goes well; gives its output."""
    def type_(*words, **options):
        said = terminal.openstack('holistic', *words, **options)
        assert (said.code, said.err) == (0, '')
        return said.out
    return type_


@pytest.fixture
def read(type_):
    """The same, and reads its JSON."""
    return lambda *words, **options: json.loads(
        type_(*words, '-f', 'json', **options))


@pytest.fixture
def refused(terminal):
    """A function that types a command that does not go well; gives the one
    line that is said."""
    def refused(*words, **options):
        said = terminal.openstack('holistic', *words, **options)
        assert said.code == 1
        assert said.out == ''
        line, end = said.err.split('\n')
        assert end == ''
        return line
    return refused


def test_the_command_of_the_tutorial(world, type_, written):
    out = type_('group', 'create', '-f', written(), '--wait')
    assert '| status           | planned ' in out
    assert '| members          | planned: 3 ' in out
    assert world.vcpus_used() == 3


def test_f_is_of_the_file_and_of_the_format(world, read, written):
    group = read('group', 'create', '-f', written(), '--wait')
    assert group['members'] == {'planned': 3}
    assert group['reasons'] == []
    shown = read('group', 'show', 'shop')
    assert shown.pop('definition') == shop()['group']
    assert shown == group


def test_a_file_that_is_named_like_a_format(world, type_, written,
                                            monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    written(name='json')
    out = type_('group', 'create', '--file', 'json', '--format', 'value',
                '-c', 'name')
    assert out == 'shop\n'


def test_a_heat_template_is_a_definition(read, written):
    plan = read('plan', 'create', '--wait', '--parameter', 'cpus=2', '-f',
                written({
                    'heat_template_version': '2018-08-31',
                    'parameters': {'cpus': {'type': 'number'}},
                    'resources': {'web': {
                        'type': 'OS::Nova::Server',
                        'properties': {'flavor': 'small'}}}}))
    # This cloud has no flavors.
    assert plan['status'] == 'error'
    assert 'small' in plan['reasons'][0]['message']


def test_a_repeated_create_holds_once(world, read, written):
    first, again = [read(
        'group', 'create', '-f', written(), '--wait', '--idempotency-key',
        'one') for _ in range(2)]
    assert first['id'] == again['id']
    assert world.vcpus_used() == 3


def test_two_creates_without_a_key_are_two(read, written):
    first, second = [read('group', 'create', '-f', written(shop(nodes=1)))
                     for _ in range(2)]
    assert first['id'] != second['id']


def test_a_plan_holds_nothing(world, read, type_, written):
    plan = read('plan', 'create', '-f', written(), '--wait', user=ADMIN)
    assert plan['status'] == 'planned'
    assert {each['host'] for each in plan['placements']} <= set(world.hosts)
    assert read('plan', 'show', plan['id'], user=ADMIN) == plan
    assert world.vcpus_used() == 0
    assert 'web' in type_('plan', 'create', '-f', written(), '--wait')


def test_groups_are_listed(read, written):
    read('group', 'create', '-f', written())
    (row,) = read('group', 'list')
    assert set(row) == {
        'id', 'name', 'status', 'members', 'lease_expires_at'}
    assert row['members'] == {'planned': 3}
    (row,) = read('group', 'list', '--long', '--name', 'shop')
    assert row['revision'] == 1
    assert read('group', 'list', '--status', 'released') == []
    assert read('group', 'list', user=ADMIN) == []
    assert len(read('group', 'list', '--all-projects', user=ADMIN)) == 1
    assert len(read('group', 'list', '--project-id', 'blue',
                    user=ADMIN)) == 1


def test_a_group_is_revised(world, read, refused, written):
    read('group', 'create', '-f', written())
    group = read('group', 'set', 'shop', '-f', written(shop(nodes=1)),
                 '--wait')
    assert (group['revision'], group['members']) == (2, {'planned': 2})
    assert world.vcpus_used() == 2
    group = read('group', 'set', 'shop', '--objective', 'stack', '--wait')
    assert (group['revision'], group['objective']) == (3, 'stack')
    line = refused('group', 'set', 'shop', '-f', written(), '--revision', 1)
    assert line == f'group {group["id"]} is at revision 3, not 1'
    line = refused('group', 'set', 'shop', '-f', written(shop(nodes=3)),
                   '--wait')
    assert 'stays planned: db: anti-affinity rack needs 3 racks' in line


def test_policies_are_taken_out(read, refused, written):
    document = shop()['group']
    document['policies'] = [{'type': 'affinity', 'level': 'power'},
                            {'type': 'spread', 'level': 'host',
                             'max_skew': 3}]
    document['relationships'] = [
        {'type': 'anti-affinity', 'between': ['web', 'db'], 'level': 'host'}]
    read('group', 'create', '-f', written(document))
    read('group', 'unset', 'shop', '--policy', 'affinity',
         '--relationship', 'anti-affinity', '--wait')
    definition = read('group', 'show', 'shop')['definition']
    assert definition['policies'] == document['policies'][1:]
    assert definition['relationships'] == []
    assert definition['groups'] == document['groups']
    assert refused('group', 'unset', 'shop', '--policy', 'affinity') == (
        "policies: none of type 'affinity' at the top of the group")
    assert refused('group', 'unset', 'shop') == (
        'nothing to unset: --policy or --relationship')


def test_places_are_freed(world, read, written):
    read('group', 'create', '-f', written())
    rows = read('group', 'release', 'shop', '--member', 'db/node')
    assert rows == [{'member': 'db/node-0', 'result': 'released'},
                    {'member': 'db/node-1', 'result': 'released'}]
    assert world.vcpus_used() == 1
    assert read('group', 'release', 'shop') == [
        {'member': 'web', 'result': 'released'}]


def test_a_lease_is_extended(world, read, written):
    read('group', 'create', '-f', written(), '--lease', 60)
    group = read('group', 'extend', 'shop', 7200)
    assert group['lease_expires_at'] == '2030-01-01T14:00:00Z'


def test_an_unplaceable_group_is_planned_again(world, read, refused,
                                               type_, written):
    read('group', 'create', '-f', written())
    late = {'name': 'late', 'members': [
        {'name': 'node', 'count': 6, 'resources': SMALL}]}
    line = refused('group', 'create', '-f', written(late), '--wait')
    assert ' is unplaceable: ' in line
    type_('group', 'delete', 'shop')
    assert read('group', 'replan', 'late', '--wait')['status'] == 'planned'
    assert world.vcpus_used() == 6


def test_members_come_and_go(world, read, refused, written):
    read('group', 'create', '-f', written(shop(nodes=1)))
    read('member', 'add', 'shop', 'db/node', '--wait')
    read('member', 'add', 'shop', 'cache', '--resource', 'VCPU=1',
         '--resource', 'MEMORY_MB=128', '--wait')
    group = read('member', 'add', 'shop', 'log', '--description',
                 '{"resources": {"VCPU": 1}}', '--wait')
    assert group['members'] == {'planned': 5}
    assert world.vcpus_used() == 5
    read('member', 'remove', 'shop', 'db/node-1', '--wait')
    rows = read('member', 'list', 'shop')
    assert rows == [
        {'member': path, 'state': 'planned', 'instance_uuid': None}
        for path in ('web', 'cache', 'log', 'db/node-0')]
    assert refused('member', 'remove', 'shop', 'db/disk') == (
        "there is no member 'db/disk'")
    assert refused('member', 'add', 'shop', 'odd', '--resource',
                   'VCPU=x').startswith('members[3].resources.VCPU: ')


def test_where_members_are_is_for_administrators(world, read, refused,
                                                 written, tmp_path):
    group = read('group', 'create', '-f', written())['id']
    rows = read('member', 'list', group, user=ADMIN)
    assert {row['member']: row['host'] for row in rows} == (
        world.table.placed(group))
    assert refused('group', 'map', 'shop', '-o', tmp_path / 'shop.svg') == (
        'where members are is for admins to see')


def test_several_groups_are_deleted_as_far_as_they_are_there(
        world, read, refused, written):
    first, second = [read('group', 'create', '-f', written(shop(nodes=1)))
                     for _ in range(2)]
    assert refused('group', 'delete', 'shop').startswith(
        "more than one group is named 'shop': use an id of ")
    line = refused('group', 'delete', first['id'], 'nobody', second['id'],
                   'none')
    assert line == 'there is no group nobody; there is no group none'
    assert read('group', 'list') == []
    assert world.vcpus_used() == 0


@pytest.mark.parametrize('noun, verb', [
    ('group', 'create'), ('group', 'set'), ('plan', 'create')])
def test_a_definition_that_cannot_be_read(refused, written, tmp_path, noun,
                                          verb):
    group = ['shop'] if verb == 'set' else []
    missing = tmp_path / 'none.yaml'
    assert refused(noun, verb, *group, '-f', missing) == (
        f'{missing}: No such file or directory')
    document = shop()['group']
    document['groups'][0]['policies'][0]['levl'] = 'rack'
    wrong = written(document)
    line = refused(noun, verb, *group, '-f', wrong)
    assert line.startswith(
        f'{wrong}: groups[0].policies[0].levl: unknown key')
    wrong.write_text('members: [')
    assert refused(noun, verb, *group, '-f', wrong).startswith(f'{wrong}: ')
    assert refused(noun, verb, *group) == 'a definition is missing: -f <file>'


@pytest.mark.parametrize('words', [
    ('group', 'show'), ('group', 'delete'), ('group', 'release'),
    ('group', 'replan'), ('member', 'list')])
def test_an_unknown_group(refused, words):
    assert refused(*words, 'nobody') == 'there is no group nobody'


def test_what_may_not_be_done_is_told(refused, read, written):
    assert refused('group', 'create', '-f', written(), user=READER) == (
        'policy does not allow holistic:groups:create')
    assert refused('plan', 'show', 'nothing') == 'there is no plan nothing'


def test_a_wait_that_is_too_short(terminal, refused, world, service,
                                  written):
    # An engine that never comes to it.
    service.app._service.engines.plan_group = lambda *_: None
    line = refused('group', 'create', '-f', written(), '--wait', '--timeout',
                   1)
    assert line == 'not settled within 1 s; it goes on, look again later'


def test_wrong_usage_is_told_with_its_argument(terminal, written):
    for words in (('group', 'extend', 'shop', 'long'),
                  ('member', 'add', 'shop', 'x', '--resource', 'VCPU'),
                  ('member', 'add', 'shop', 'x', '--description', '['),
                  ('group', 'create', '-f', written(), '--timeout', '0')):
        said = terminal.openstack('holistic', *words)
        assert said.code == 2
        assert 'Traceback' not in said.err
        assert 'error: argument ' in said.err.splitlines()[-1]


def test_a_microversion_that_there_is_not(terminal):
    said = terminal.openstack('--os-holistic-api-version', '1.7',
                              'holistic', 'group', 'list')
    assert (said.code, said.err) == (
        1, 'there is no version 1.7; from 1.0 to 1.0\n')


def test_every_command_is_completed(terminal):
    said = terminal.openstack('complete')
    words = dict(line.strip().split('=', 1)
                 for line in said.out.splitlines() if '=' in line)
    for noun, verbs in COMMANDS.items():
        assert set(words[f'cmds_holistic_{noun}'].strip("'").split()) == verbs
    assert '--wait' in words['cmds_holistic_group_create']
