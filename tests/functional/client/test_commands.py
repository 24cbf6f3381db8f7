# SPDX-License-Identifier: Apache-2.0
"""Commands of a user, which reach the API over HTTP, with an engine and a real
Placement."""

import json

import pytest

from tests.functional.engine.world import RACKS, shop, SMALL
from tests.unit.api.service import ADMIN

COMMANDS = {
    'group': {'adopt', 'bind', 'binding', 'boot', 'create', 'delete', 'event',
              'extend', 'import', 'list', 'map', 'release', 'repair',
              'replan', 'rollback', 'set', 'show', 'unbind', 'unset',
              'update'},
    'inventory': {'export'},
    'member': {'add', 'detach', 'list', 'remove', 'scale'},
    'plan': {'create', 'show'},
}


def test_the_create_command_of_the_tutorial_works(world, type_, written):
    out = type_('group', 'create', '-f', written(), '--wait')
    assert '| status           | planned ' in out
    assert '| members          | planned: 3 ' in out
    assert world.vcpus_used() == 3


def test_option_f_names_the_file_and_the_format(world, read, written):
    group = read('group', 'create', '-f', written(), '--wait')
    assert group['members'] == {'planned': 3}
    assert group['reasons'] == []
    body = read('group', 'show', 'shop')
    assert body.pop('definition') == shop()['group']
    assert body.pop('actions') == []
    # The group has no volumes.
    assert body.pop('volume_creation') is None
    value = body.pop('objective_value')
    assert (value['name'], value['gap'], value['kept']) == ('spread', 0, 0)
    assert value['value'] == value['bound'] > 0
    assert body == group


def test_a_file_may_have_the_name_of_a_format(world, type_, written,
                                              monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    written(name='json')
    out = type_('group', 'create', '--file', 'json', '--format', 'value',
                '-c', 'name')
    assert out == 'shop\n'


def test_a_heat_template_is_accepted_as_a_definition(terminal, written):
    output = terminal.openstack(
        'holistic', 'plan', 'create', '--wait', '--parameter', 'cpus=2',
        '--format', 'json', '-f', written({
            'heat_template_version': '2018-08-31',
            'parameters': {'cpus': {'type': 'number'}},
            'resources': {'web': {
                'type': 'OS::Nova::Server',
                'properties': {'flavor': 'small'}}}}))
    plan = json.loads(output.out)
    # This cloud has no flavors.
    assert (output.code, plan['status']) == (1, 'error')
    assert 'small' in plan['reasons'][0]['message']


def test_a_repeated_create_holds_capacity_once(world, read, written):
    first, again = [read(
        'group', 'create', '-f', written(), '--wait', '--idempotency-key',
        'one') for _ in range(2)]
    assert first['id'] == again['id']
    assert world.vcpus_used() == 3


def test_two_creates_without_a_key_make_two_groups(read, written):
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


@pytest.mark.parametrize('nodes, code, status', [
    (2, 0, 'planned'), (len(RACKS) + 1, 1, 'unplaceable')])
def test_a_plan_that_was_waited_for_gives_the_exit_code(
        terminal, written, nodes, code, status):
    output = terminal.openstack('holistic', 'plan', 'create', '--wait',
                                '--format', 'json', '-f', written(shop(
                                    nodes=nodes)))
    plan = json.loads(output.out)
    assert (output.code, output.err, plan['status']) == (code, '', status)
    assert bool(plan.get('reasons')) == (code == 1)
    # Showing the plan later is not a failure.
    assert terminal.openstack(
        'holistic', 'plan', 'show', plan['id']).code == 0


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


def test_a_group_is_revised(world, read, failed, written):
    read('group', 'create', '-f', written())
    group = read('group', 'set', 'shop', '-f', written(shop(nodes=1)),
                 '--wait')
    assert (group['revision'], group['members']) == (2, {'planned': 2})
    assert world.vcpus_used() == 2
    group = read('group', 'set', 'shop', '--objective', 'stack', '--wait')
    assert (group['revision'], group['objective']) == (3, 'stack')
    line = failed('group', 'set', 'shop', '-f', written(), '--revision', 1)
    assert line == f'group {group["id"]} is at revision 3, not 1'
    line = failed('group', 'set', 'shop', '-f', written(shop(nodes=3)),
                  '--wait')
    assert 'stays planned: db: anti-affinity rack needs 3 racks' in line


def test_policies_and_relationships_are_removed(read, refused, written):
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
        "policies: the top-level group has none of type 'affinity'")
    assert refused('group', 'unset', 'shop') == (
        'nothing to unset: --policy or --relationship is required')


def test_members_are_released(world, read, written):
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


def test_a_plan_shows_relaxations_and_headroom(read, type_, written):
    options = ('-f', written(), '--headroom', '--relaxations', '--wait')
    assert read('plan', 'create', *options)['headroom'] == {
        'at_least': 2, 'at_most': 2}
    assert '| headroom    | exactly 2 copies fit' in type_(
        'plan', 'create', *options)


def test_an_unplaceable_group_is_planned_again(world, read, failed,
                                               type_, written):
    read('group', 'create', '-f', written())
    late = {'name': 'late', 'members': [
        {'name': 'node', 'count': 6, 'resources': SMALL}]}
    line = failed('group', 'create', '-f', written(late), '--wait')
    assert ' is unplaceable: ' in line
    type_('group', 'delete', 'shop')
    assert read('group', 'replan', 'late', '--wait')['status'] == 'planned'
    assert world.vcpus_used() == 6


def test_members_are_added_and_removed(world, read, refused, written):
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
                   'VCPU=x').startswith('members[0].resources.VCPU: ')


def test_only_an_administrator_sees_member_hosts(world, read, failed,
                                                 written, tmp_path):
    group = read('group', 'create', '-f', written())['id']
    rows = read('member', 'list', group, user=ADMIN)
    assert {row['member']: row['host'] for row in rows} == (
        world.hosts_in_use(group))
    assert failed('group', 'map', 'shop', '-o', tmp_path / 'shop.svg') == (
        'the API shows the hosts of members to admins only')


def test_deleting_several_groups_reports_unknown_ones(
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


def test_the_shell_completion_lists_every_command(terminal):
    output = terminal.openstack('complete')
    words = dict(line.strip().split('=', 1)
                 for line in output.out.splitlines() if '=' in line)
    for noun, verbs in COMMANDS.items():
        assert set(words[f'cmds_holistic_{noun}'].strip("'").split()) == verbs
    assert '--wait' in words['cmds_holistic_group_create']


def test_the_history_of_a_group_is_listed(world, read, type_, written):
    group = read('group', 'create', '-f', written(), '--wait')['id']
    events = read('group', 'event', 'list', 'shop')
    assert [(e['kind'], e['to_state']) for e in events] == [
        ('group.status', 'planning'), ('plan.written', None),
        ('group.status', 'planned')]
    read('group', 'release', 'shop')
    (last,) = read('group', 'event', 'list', 'shop', '--newest-first',
                   '--limit', '1', '--long')
    assert (last['to_state'], last['user_id']) == ('released', 'ann')
    released = read('group', 'event', 'list', 'shop', '--member', 'web')
    assert [e['to_state'] for e in released] == ['released']
    assert 'host' not in released[0]
    assert {e['host'] for e in read(
        'group', 'event', 'list', group, '--kind', 'member.state',
        user=ADMIN)} <= set(RACKS)
