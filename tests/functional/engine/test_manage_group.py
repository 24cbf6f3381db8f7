# SPDX-License-Identifier: Apache-2.0
"""The groups of an operator, from the document to the deletion of the last
hold."""

import io
import json
import sys

import pytest

from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.world import RACKS, shop, SMALL

OWNER = ('--project-id', 'blue', '--user-id', 'ann')
NOBODY = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'
TEMPLATE = '''
heat_template_version: 2021-04-16
parameters:
  nodes: {type: number, default: 1}
groups:
  pair:
    policies: [{type: anti-affinity, level: rack}]
    members: [node]
resources:
  node:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: nodes}
      resource_def:
        type: OS::Nova::Server
        properties: {flavor: m1.small, image: cirros, networks: none}
'''


class Operator:
    """Runs group commands on the world's cloud.

    :ivar out: output of the last command
    :ivar err: last line of its error output
    """

    def __init__(self, run, world, folder):
        self._run = run
        self._world = world
        self._folder = folder
        self.out = self.err = ''

    def run(self, *words, **settings):
        """Run a group command; returns its exit code."""
        code, self.out, printed = self._run('group', *words, **{
            'placement': self._world.endpoint, 'inventory': self._inventory(),
            **settings})
        self.err = (printed.splitlines() or [''])[-1]
        return code

    def file(self, content):
        file = self._folder / 'group.yaml'
        file.write_text(content if isinstance(content, str)
                        else json.dumps(content))
        return str(file)

    def created(self, content, *words):
        """Create a group that can be placed; returns the command's JSON."""
        assert self.run('create', self.file(content), *OWNER, '--format',
                        'json', *words) == 0
        return json.loads(self.out)

    def shown(self, group):
        assert self.run('show', group, '--format', 'json') == 0
        return json.loads(self.out)

    def states(self, group):
        return {m['member']: m['state'] for m in self.shown(group)['members']}

    def _inventory(self):
        """A file with two racks of two empty hosts."""
        room = {'VCPU': {'total': 2}, 'MEMORY_MB': {'total': 1024}}
        return json.dumps({
            'levels': ['rack', 'host'], 'flavors': {'m1.small': SMALL},
            'hosts': [{'name': name, 'uuid': self._world.hosts[name],
                       'location': [rack], 'resources': room}
                      for name, rack in RACKS.items()]})


@pytest.fixture
def operator(run, world, tmp_path):
    return Operator(run, world, tmp_path)


def test_creating_a_group_holds_every_member(operator, world):
    group = operator.created(shop())
    assert (group['name'], group['project_id'], group['user_id']) == (
        'shop', 'blue', 'ann')
    assert (group['status'], group['reasons']) == ('planned', [])
    host = {m['member']: m['host'] for m in group['members']}
    assert set(host) == {'web', 'db/node-0', 'db/node-1'}
    assert RACKS[host['db/node-0']] != RACKS[host['db/node-1']]
    for member in group['members']:
        assert member['state'] == 'planned'
        assert member['location'] == [RACKS[member['host']]]
        assert member['instance_uuid'] is None
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_show_prints_the_group_as_create_did(operator):
    group = operator.created(shop())
    assert operator.shown(group['uuid']) == group


def test_show_prints_a_readable_table(operator, world):
    group = world.create()
    row = world.build(group, 'web')
    assert operator.run('show', group.uuid) == 0
    heading, members = operator.out.split('\n\n')
    printed = [line.split(maxsplit=1) for line in heading.splitlines()]
    assert ['uuid', group.uuid] in printed
    assert ['status', 'building'] in printed
    assert ['web', 'built', row.place.host, *row.place.location,
            row.instance_uuid] in [
                line.split() for line in members.splitlines()]


def test_groups_are_listed_by_project(operator, world):
    blue = world.create(shop(1))
    red = world.create(shop(1), project_id='red')
    assert operator.run('list', '--format', 'json') == 0
    assert {g['uuid'] for g in json.loads(operator.out)} == {
        blue.uuid, red.uuid}
    assert operator.run('list', '--project-id', 'red') == 0
    head, line = operator.out.splitlines()
    assert head.split()[:2] == ['UUID', 'NAME']
    assert line.split()[:4] == [red.uuid, 'shop', 'red', 'planned']


def test_list_prints_nothing_without_groups(operator):
    assert operator.run('list') == 0
    assert operator.out == ''
    assert operator.run('list', '--format', 'json') == 0
    assert json.loads(operator.out) == []


def test_one_member_is_released_and_the_others_stay_held(operator, world):
    group = operator.created(shop())['uuid']
    assert operator.run('release', group, 'db/node-0') == 0
    assert operator.out == 'db/node-0: released\n'
    assert operator.states(group) == {
        'web': 'planned', 'db/node-0': 'released', 'db/node-1': 'planned'}
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_releasing_a_group_keeps_built_members(operator, world):
    group = world.create()
    row = world.build(group, 'web')
    assert operator.run('release', group.uuid) == 0
    assert set(operator.out.splitlines()) == {
        'db/node-0: released', 'db/node-1: released',
        'web: kept, it belongs to a server'}
    assert world.holds.has(row.instance_uuid, row)
    assert world.vcpus_used() == 1


def test_a_lease_is_extended(operator):
    group = operator.created(shop(), '--lease', '60')
    assert operator.run('extend', group['uuid'], '7200') == 0
    printed = operator.out
    until = operator.shown(group['uuid'])['lease_expires_at']
    assert printed == f'lease until {until}\n'
    assert until > group['lease_expires_at']


def test_a_lease_of_0_means_no_lease(operator):
    group = operator.created(shop(), '--lease', '0')
    assert group['lease_expires_at'] is None


def test_a_released_group_cannot_be_extended(operator):
    group = operator.created(shop())['uuid']
    operator.run('release', group)
    assert operator.run('extend', group, '60') == 1
    assert 'it has no planned members' in operator.err


def test_a_deleted_group_holds_nothing(operator, world):
    group = operator.created(shop())['uuid']
    assert operator.run('delete', group) == 0
    assert operator.out == ''
    assert world.vcpus_used() == 0
    assert operator.run('show', group) == 2
    assert operator.err == (
        f'nova-holistic-manage: there is no group {group}')


def lose(world, group, path):
    """Drop the hold of a planned member, and mark the member as lost."""
    row = next(m for m in world.table.members(group) if m.member.path == path)
    world.holds.drop([row.hold])
    world.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             world.now, held=False)


def test_a_lost_member_is_replanned(operator, world):
    group = operator.created(shop())['uuid']
    lose(world, group, 'web')
    assert operator.states(group)['web'] == 'lost'
    assert operator.run('replan', group) == 0
    assert operator.states(group)['web'] == 'planned'
    assert world.vcpus_used() == 3
    world.assert_agreement()


def test_an_unplaceable_lost_member_stays_lost_with_a_reason(operator, world):
    group = operator.created(shop())['uuid']
    lose(world, group, 'db/node-0')
    nowhere = json.dumps({'levels': ['rack', 'host'], 'hosts': []})
    assert operator.run('replan', group, inventory=nowhere) == 1
    assert any(line.startswith('reason') for line in operator.out.splitlines())
    assert operator.states(group)['db/node-0'] == 'lost'
    assert world.vcpus_used() == 2


def test_an_unplaceable_group_reports_its_reasons(operator, world):
    # Each of the three nodes needs a separate rack, and the cloud has two.
    file = operator.file(shop(nodes=3))
    assert operator.run('create', file, *OWNER) == 1
    printed = dict(
        line.split(maxsplit=1) for line in operator.out.splitlines())
    assert printed['status'] == 'unplaceable'
    assert printed['reason'].startswith('db: ')
    assert world.vcpus_used() == 0
    assert operator.run('create', file, *OWNER, '--format', 'json') == 1
    group = json.loads(operator.out)
    assert (group['status'], group['members']) == ('unplaceable', [])
    assert group['reasons']


def test_a_group_that_placement_refuses_ends_in_error(operator, world):
    for provider in world.hosts.values():
        world.placement.allocate(provider, {'VCPU': 2})
    assert operator.run('create', operator.file(shop()), *OWNER) == 1
    assert 'error' in operator.out
    assert world.vcpus_used() == 8


@pytest.mark.leaves('nobody knows whether the holds of the create are put')
def test_an_unreachable_placement_is_reported(operator, world):
    group = world.create()
    nowhere = 'http://127.0.0.1:9'
    assert operator.run('create', operator.file(shop()), *OWNER, '--format',
                        'json', placement=nowhere) == 1
    assert json.loads(operator.out)['status'] == 'error'
    assert operator.run('delete', group.uuid, placement=nowhere) == 1
    assert operator.err.startswith('nova-holistic-manage: ')
    assert world.table.get_group(group.uuid).status == GroupStatus.PLANNED


def test_a_heat_template_creates_a_group(operator, world):
    group = operator.created(TEMPLATE, '--parameter', 'nodes=2')
    racks = [m['location'] for m in group['members']]
    assert sorted(racks) == [['a'], ['b']]
    assert world.vcpus_used() == 2


def test_parameters_for_a_group_document_are_refused(operator, world):
    file = operator.file(shop())
    assert operator.run('create', file, *OWNER, '--parameter', 'a=b') == 2
    assert operator.err.startswith(f'nova-holistic-manage: {file}: ')
    assert world.table.list_groups() == ()


def test_a_document_is_read_from_standard_input(operator, monkeypatch):
    text = io.BytesIO(json.dumps(shop()).encode())
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(text))
    assert operator.run('create', '-', *OWNER) == 0


@pytest.mark.parametrize('content, complaint', [
    ('group: {name: x, members: [{name: a, flavour: m1.small}]}',
     'members[0]'),
    ('group: {name: x, members: [{name: a, flavor: m1.huge}]}', 'm1.huge'),
    ('group: {name: x, members: [{name: a, resources: {VCPU: 1}}],'
     ' policies: [{type: anti-affinity, level: planet}]}',
     'policies[0].level'),
    ('group: [', 'group.yaml: '),
])
def test_an_invalid_document_is_refused(
        operator, world, content, complaint):
    assert operator.run('create', operator.file(content), *OWNER) == 2
    assert operator.out == ''
    assert operator.err.startswith('nova-holistic-manage: ')
    assert complaint in operator.err
    assert world.table.list_groups() == ()


def test_a_missing_file_is_reported(operator):
    assert operator.run('create', '/nowhere/shop.yaml', *OWNER) == 2
    assert operator.err == (
        'nova-holistic-manage: /nowhere/shop.yaml: No such file or directory')


def test_an_unknown_objective_is_refused(operator, world):
    assert operator.run('create', operator.file(shop()), *OWNER,
                        '--objective', 'beauty') == 2
    assert 'beauty' in operator.err
    assert world.table.list_groups() == ()


@pytest.mark.parametrize('words', [
    ('show',), ('release',), ('extend', '60'), ('replan',), ('delete',)])
def test_an_unknown_group_is_reported(operator, words):
    command, *rest = words
    assert operator.run(command, NOBODY, *rest) == 2
    assert (operator.out, operator.err) == (
        '', f'nova-holistic-manage: there is no group {NOBODY}')


def test_an_unknown_member_releases_nothing(operator, world):
    group = world.create()
    assert operator.run('release', group.uuid, 'web', 'db/node-7') == 2
    assert "'db/node-7'" in operator.err
    assert set(world.states(group).values()) == {'planned'}


@pytest.mark.parametrize('words', [
    (), ('create',), ('create', 'shop.yaml', '--user-id', 'ann'),
    ('create', 'shop.yaml', '--project-id', '', '--user-id', 'ann'),
    ('create', 'shop.yaml', *OWNER, '--lease', '-1'),
    ('create', 'shop.yaml', *OWNER, '--lease', '99999999999999'),
    ('create', 'shop.yaml', *OWNER, '--parameter', 'size'),
    ('create', 'shop.yaml', *OWNER, '--format', 'xml'),
    ('show', 'odd\udcffname'), ('extend', NOBODY, '0'),
    ('extend', NOBODY, 'long')])
def test_wrong_usage_exits_with_2(operator, words):
    with pytest.raises(SystemExit) as stop:
        operator.run(*words)
    assert stop.value.code == 2
