# SPDX-License-Identifier: Apache-2.0
"""Groups with volumes, which Cinder creates in their planned pools.

Each of the racks a and b has two hosts with two VCPUs each, and a pool of
100 GiB. The tests create volumes in the table as Cinder's scheduler does.
"""

from dataclasses import replace
import uuid

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.api.storage import pool
from tests.functional.engine.member_losses import lose
from tests.functional.engine.test_reconciler import live_through
from tests.functional.engine.world import SMALL
from tests.unit.api.service import ADMIN, MEMBER, refusal

VERSION = {'OpenStack-API-Version': 'holistic 1.6'}
HOSTS = {'array@a#fast': {'a1', 'a2'}, 'array@b#fast': {'b1', 'b2'}}


def database(servers=1, size=30, volumes=2, **keys):
    """Servers and volumes in one rack."""
    return {'name': 'db', 'policies': [
        {'type': 'affinity', 'level': 'rack'}], 'members': [
        {'name': 'server', 'count': servers, 'resources': SMALL},
        {'name': 'data', 'count': volumes, 'kind': 'volume', 'size': size,
         'volume_type': 'fast', **keys}]}


class Client:
    """A user with the rights of an administrator."""

    def __init__(self, service):
        self._service = service

    def ask(self, method, path, body=None, token=ADMIN, headers=None):
        return self._service.ask(
            method, path, body, token, {**VERSION, **(headers or {})})

    def create(self, *words, status='planned', token=ADMIN, **keys):
        group = self.ask('POST', '/v1/groups?wait=60', {
            'group': database(*words, **keys)}, token).json['group']
        assert group['status'] == status, group
        return group['id']

    def update(self, group, document):
        revision = self.ask('GET', f'/v1/groups/{group}').headers['ETag']
        return self.ask('PUT', f'/v1/groups/{group}?wait=60',
                        {'group': document}, headers={'If-Match': revision})

    def shown(self, group, token=ADMIN):
        return self.ask('GET', f'/v1/groups/{group}/placements',
                        token=token).json

    def hosts(self, group):
        return {each['member']: each['host']
                for each in self.shown(group)['placements']}

    def pools(self, group):
        return {each['member']: each['pool']
                for each in self.shown(group)['volumes']}

    def states(self, group):
        return {each['member']: each['state']
                for each in self.shown(group)['volumes']}

    def release(self, group, *members):
        return self.ask('POST', f'/v1/groups/{group}/release', {
            'release': {'members': list(members)} if members else {}})


@pytest.fixture
def client(service, pools):
    return Client(service)


def in_one_rack(client, group):
    """Whether all servers and volumes of a group are in one rack."""
    (found,) = set(client.pools(group).values())
    return set(client.hosts(group).values()) <= HOSTS[found]


def claimed(world, group, path):
    return world.table.volumes.claim(
        group, path, str(uuid.uuid4()), world.now).row


def test_volumes_are_planned_near_their_servers(client, pools):
    pools[0] = pool('array@a#fast', 'a', 100, used=50)
    group = client.create(servers=2)
    assert client.pools(group) == {
        'data-0': 'array@b#fast', 'data-1': 'array@b#fast'}
    assert set(client.hosts(group).values()) <= {'b1', 'b2'}
    assert client.shown(group)['volumes'][1] == {
        'member': 'data-1', 'state': 'planned', 'volume_id': None,
        'size': 30, 'volume_type': 'fast', 'pool': 'array@b#fast',
        'location': ['b']}


def test_servers_have_alternates_near_the_volumes(world, client):
    group = client.create(size=40, location='b')
    (row,) = world.table.members(group)
    assert {row.place.host, *(place.host for place in row.alternates)} == {
        'b1', 'b2'}


def test_volumes_stay_when_placement_refuses_a_server(world, client, caplog):
    """Another server takes capacity after the engine has read the cloud."""
    caplog.set_level('INFO', 'nova_holistic.engine')

    def take(number):
        if number == 1:
            # Two of the three servers are planned here.
            world.placement.allocate(world.hosts['a1'], {'VCPU': 1})

    world.inventory.stale = take
    group = client.create(servers=3, location='a')
    assert '1 of 3 members of group' in caplog.text
    assert in_one_rack(client, group)
    assert set(client.states(group).values()) == {'planned'}


def test_only_servers_have_holds(world, client):
    client.create(servers=2)
    assert world.vcpus_used() == 2
    world.assert_agreement()


def test_users_without_the_right_to_see_hosts_see_no_pools(client):
    group = client.create(token=MEMBER)
    (first, _) = client.shown(group, MEMBER)['volumes']
    assert first.keys() == {
        'member', 'state', 'volume_id', 'size', 'volume_type'}
    assert 'array@' in client.ask(
        'GET', f'/v1/groups/{group}/placements').text


def test_earlier_versions_create_and_show_no_volumes(service, client):
    before = {'OpenStack-API-Version': 'holistic 1.5'}
    answer = service.ask('POST', '/v1/groups', {'group': database()}, ADMIN,
                         before)
    assert refusal(answer)[0] == 400
    assert refusal(answer)[2].startswith('members[1].kind: ')
    assert service.ask('GET', f'/v1/groups/{client.create()}/placements',
                       None, ADMIN, before).json.keys() == {'placements'}


def test_planned_volumes_use_the_capacity_of_their_pools(client):
    groups = [client.create(size=40), client.create(size=40)]
    found = [set(client.pools(group).values()) for group in groups]
    assert sorted(found, key=str) == [{'array@a#fast'}, {'array@b#fast'}]
    plan = client.ask('POST', '/v1/plans?wait=60', {
        'group': database(size=40)}).json['plan']
    assert plan['status'] == 'unplaceable'
    third = client.create(size=40, status='unplaceable')
    assert client.shown(third) == {'placements': [], 'volumes': []}
    assert client.create(size=10)
    client.ask('DELETE', f'/v1/groups/{groups[0]}')
    assert client.pools(client.create(size=40))['data-0'] in found[0]


def test_a_group_that_was_unplaceable_gets_its_volumes_later(client, pools):
    whole = list(pools)
    pools[:] = [pool('array@a#fast', 'a', 10)]
    group = client.create(status='unplaceable')
    answer = client.update(group, database(servers=2))
    assert refusal(answer)[:2] == (409, 'holistic.conflict')
    pools[:] = whole
    answer = client.ask('POST', f'/v1/groups/{group}/replan?wait=60',
                        {'replan': {}})
    assert answer.json['group']['status'] == 'planned'
    assert in_one_rack(client, group)


def test_two_groups_do_not_plan_the_same_capacity(world, client, pools):
    """Another group is planned after the first group has read the pools."""
    read, others = world.inventory.read_pools, []

    def read_before_others(snapshot):
        found = read(snapshot)
        if not others:
            others.append(None)
            others.append(client.create(size=40))
        return found

    world.inventory.read_pools = read_before_others
    groups = [client.create(size=40), others[1]]
    assert {client.pools(group)['data-0'] for group in groups} == set(HOSTS)
    assert all(in_one_rack(client, group) for group in groups)


def test_a_released_group_frees_its_pools(client):
    group = client.create(size=40, location='a')
    answer = client.release(group)
    assert answer.json == {
        'released': ['server-0', 'data-0', 'data-1'], 'kept': []}
    assert client.states(group) == {
        'data-0': 'released', 'data-1': 'released'}
    assert client.create(size=50, location='a')


def test_single_volumes_are_released(world, client):
    group = client.create(size=40, location='a')
    row = claimed(world, group, 'data-0')
    assert client.release(group, 'none', 'data').status_int == 400
    assert client.release(group, 'data').json == {
        'released': ['data-1'], 'kept': ['data-0']}
    assert client.hosts(group).keys() == {'server-0'}
    row = world.table.volumes.of_volume(row.volume_uuid)
    assert world.table.volumes.deleted(row, world.now)
    assert client.states(group) == {
        'data-0': 'released', 'data-1': 'released'}


def test_volumes_without_servers_are_released(client):
    group = client.create()
    client.release(group, 'server')
    assert client.ask('GET', f'/v1/groups/{group}').json['group'][
        'status'] == 'released'
    assert set(client.states(group).values()) == {'released'}


def test_volumes_are_released_after_the_last_server_is_deleted(
        world, client):
    group = client.create(size=40, location='a')
    server = world.build(world.table.get_group(group), 'server-0')
    assert client.release(group, 'server').json['kept'] == ['server-0']
    world.reconciler.reconcile()
    assert set(client.states(group).values()) == {'planned'}
    world.instances.delete(server.instance_uuid)
    world.reconcile_members()
    assert client.ask('GET', f'/v1/groups/{group}').json['group'][
        'status'] == 'released'
    assert client.create(size=50, location='a')


def test_killed_processes_leave_no_planned_volumes(world, client):
    """A planner is killed, and reconcilers that give up its group."""
    def create(table, holds):
        world.planner_with(table, holds).create(
            {'group': database(size=40, location='a')},
            project_id='admin', user_id='root')

    def give_up(table, holds):
        type(world.reconciler)(world.components(
            table=table, holds=holds)).reconcile()

    assert any(world.table.volumes.planned_gb()
               for _ in live_through(world, create))
    world.wait_out_grace()
    assert list(live_through(world, give_up))
    world.reconcile_members()
    assert client.create(size=50, location='a')


def test_volumes_expire_with_the_lease_of_their_group(world, client):
    group = client.create()
    world.build(world.table.get_group(group), 'server-0')
    claimed(world, group, 'data-0')
    world.reconciler.reconcile()
    assert client.states(group)['data-1'] == 'planned'
    world.wait(world.conf.planner.lease + 1)
    world.reconciler.reconcile()
    assert client.states(group) == {
        'data-0': 'claimed', 'data-1': 'released'}


def test_volumes_that_a_planner_wrote_too_late_are_released(world, client):
    """The process of a caller writes its plan after the group was given up."""
    group = client.create(size=40)
    members = world.table.members(group)
    volumes = world.table.volumes.of_group(group)
    pool_of_group = volumes[0].location[0]
    client.ask('DELETE', f'/v1/groups/{group}')
    given_up = client.create(size=101, status='unplaceable')
    world.table.write_members(
        given_up, [replace(row, group_uuid=given_up) for row in members],
        volumes=[replace(row, group_uuid=given_up) for row in volumes])
    world.reconcile_members()
    assert set(client.states(given_up).values()) == {'released'}
    assert client.create(size=50, location=pool_of_group)


def test_the_reconciler_leaves_volumes_alone(world, client):
    group = client.create()
    before = client.shown(group)
    for _ in range(3):
        assert not world.reconciler.reconcile()
        world.wait_out_grace()
    assert client.shown(group) == before


def test_new_servers_are_planned_near_the_volumes(world, client):
    group = client.create(location='b')
    claimed(world, group, 'data-0')
    before = client.shown(group)['volumes']
    answer = client.update(group, database(servers=3, location='b'))
    assert answer.json['group']['status'] == 'planned', answer.text
    assert set(client.hosts(group).values()) == {'b1', 'b2'}
    assert client.shown(group)['volumes'] == before
    answer = client.update(group, database(servers=5, location='b'))
    assert answer.json['group']['reasons']
    assert client.hosts(group).keys() == {'server-0', 'server-1', 'server-2'}


def test_lost_servers_are_planned_near_the_volumes(world, client, pools):
    group = client.create(servers=2, location='a')
    record = world.table.get_group(group)
    claimed(world, group, 'data-0')
    # The pool is full of the volumes of the group.
    pools[0] = pool('array@a#fast', 'a', 100, used=70)
    lose(world, record, 'server-0')
    client.ask('POST', f'/v1/groups/{group}/replan?wait=60', {'replan': {}})
    assert set(world.states(record).values()) == {'planned'}
    assert in_one_rack(client, group)
    # Cinder has no such pool any longer, and no rack satisfies the policy.
    del pools[0]
    world.inventory.down = {'a1', 'a2'}
    lose(world, record, 'server-0')
    client.ask('POST', f'/v1/groups/{group}/replan?wait=60', {'replan': {}})
    assert world.states(record)['server-0'] == 'lost'
    world.inventory.down = set()
    client.ask('POST', f'/v1/groups/{group}/replan?wait=60', {'replan': {}})
    assert in_one_rack(client, group)


def test_an_update_may_reorder_volumes(world, client):
    """The answers list them in the order of the new document."""
    document = database()
    (data,) = [each for each in document['members']
               if each['name'] == 'data']
    log = {**data, 'name': 'log', 'count': 1}
    document['members'].append(log)
    group = client.ask('POST', '/v1/groups?wait=60', {
        'group': document}).json['group']['id']
    pools, row = client.pools(group), claimed(world, group, 'data-1')
    assert list(pools) == ['data-0', 'data-1', 'log-0']
    document['members'].remove(log)
    document['members'].insert(0, log)
    answer = client.update(group, document)
    assert answer.json['group']['reasons'] == []
    assert list(client.pools(group)) == ['log-0', 'data-0', 'data-1']
    assert client.pools(group) == pools
    assert world.table.volumes.of_volume(row.volume_uuid) == row


@pytest.mark.parametrize('changed, place', [
    ({'size': 31}, 'members[1]'),
    ({'volume_type': 'slow'}, 'members[1]'),
    ({'volumes': 3}, 'members[1]'),
    ({'volumes': 1}, 'members[1]')])
def test_an_update_cannot_change_volumes(client, changed, place):
    group = client.create()
    before = client.shown(group)
    answer = client.update(group, database(**changed))
    assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    assert refusal(answer)[2].startswith(f'{place}: an update cannot ')
    assert client.shown(group) == before


def test_members_that_are_volumes_are_neither_added_nor_removed(client):
    group = client.create()
    path = f'/v1/groups/{group}/members'
    for answer in (
            client.ask('DELETE', f'{path}/data-1'),
            client.ask('POST', path, {'members': [
                {'name': 'log', 'kind': 'volume', 'size': 1}]}),
            client.ask('DELETE', f'{path}/server')):
        assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
    assert len(client.pools(group)) == 2


def test_a_group_of_volumes_only_is_refused(client):
    answer = client.ask('POST', '/v1/groups', {'group': {
        'name': 'disk', 'members': [
            {'name': 'data', 'kind': 'volume', 'size': 1}]}})
    assert refusal(answer)[0] == 400
    assert refusal(answer)[2].startswith('members: ')


def test_a_group_with_volumes_adopts_no_servers(client):
    group, adopt = client.create(), {'server-0': str(uuid.uuid4())}
    for answer in (
            client.ask('POST', '/v1/groups', {
                'group': {**database(), 'adopt': adopt}}),
            client.update(group, {**database(), 'adopt': adopt}),
            client.ask('POST', f'/v1/groups/{group}/adopt',
                       {'adopt': adopt})):
        assert refusal(answer)[:2] == (400, 'holistic.invalid_document')
        assert refusal(answer)[2].startswith('adopt: ')


def refuse(world, group, *paths):
    """Cinder's filters refuse the pool of volumes."""
    for path in paths:
        assert world.table.volumes.undo(
            claimed(world, group, path), world.now, refused=True)


def test_lost_volumes_are_planned_in_another_pool(world, client, pools):
    group = client.create(servers=2, location='a')
    pools.append(pool('other@a#fast', 'a', 100))
    record = world.table.get_group(group)
    for path in 'server-0', 'server-1':
        world.build(record, path)
    world.reconciler.reconcile()
    before = client.hosts(group)
    refuse(world, group, 'data-0')
    assert client.states(group) == {'data-0': 'lost', 'data-1': 'planned'}
    assert world.reconciler.reconcile() == {'replanned': 1}
    assert set(client.states(group).values()) == {'planned'}
    assert client.pools(group) == {
        'data-0': 'other@a#fast', 'data-1': 'array@a#fast'}
    assert client.hosts(group) == before
    assert not world.reconciler.reconcile()


def test_lost_volumes_without_a_pool_stay_lost(world, client, pools):
    group = client.create(size=40, location='a')
    refuse(world, group, 'data-0', 'data-1')
    pools[0] = pool('array@a#fast', 'a', 100, used=50)
    answer = client.ask('POST', f'/v1/groups/{group}/replan?wait=60',
                        {'replan': {}})
    assert any('VOLUME_GB' in reason['message'] for reason
               in answer.json['group']['reasons'])
    assert set(client.states(group).values()) == {'lost'}
    # No other pool is in the rack of the server.
    pools[0] = pool('array@a#fast', 'a', 100)
    world.reconciler.reconcile()
    assert set(client.states(group).values()) == {'planned'}
    assert in_one_rack(client, group)
    assert not client.ask('GET', f'/v1/groups/{group}').json['group'][
        'reasons']


def test_volumes_stay_in_their_pools_when_the_default_type_changes(
        world, client, pools):
    """Volumes without a type that are planned later have the new type."""
    document = database(size=10)
    (data,) = [each for each in document['members']
               if each['name'] == 'data']
    del data['volume_type']
    del document['policies']
    data['location'] = 'a'
    world.inventory.read_default_volume_type = lambda project: 'fast'
    group = client.ask('POST', '/v1/groups?wait=60', {
        'group': document}).json['group']['id']
    assert set(client.pools(group).values()) == {'array@a#fast'}
    claimed(world, group, 'data-1')
    pools.append(pool('array@a#slow', 'a', 100, types=('slow',)))
    world.inventory.read_default_volume_type = lambda project: 'slow'
    document['members'][0]['count'] = 2
    assert client.update(group, document).json['group']['reasons'] == []
    assert set(client.pools(group).values()) == {'array@a#fast'}
    (row,) = [row for row in world.table.volumes.of_group(group)
              if row.path == 'data-0']
    world.table.volumes.lose(row, world.now)
    client.ask('POST', f'/v1/groups/{group}/replan?wait=60', {'replan': {}})
    assert client.pools(group) == {
        'data-0': 'array@a#slow', 'data-1': 'array@a#fast'}


def test_lost_volumes_do_not_take_what_another_group_plans(
        world, client, pools):
    """Another group is planned after the replan has read the pools."""
    group = client.create(size=40, location='a')
    refuse(world, group, 'data-0')
    read, others = world.inventory.read_pools, []

    def read_before_others(snapshot):
        found = read(snapshot)
        if not others:
            others.append(None)
            others.append(client.create(size=30, location='a'))
        return found

    world.inventory.read_pools = read_before_others
    world.reconciler.reconcile()
    assert client.states(group) == {'data-0': 'lost', 'data-1': 'planned'}
    client.ask('DELETE', f'/v1/groups/{others[1]}')
    world.reconciler.reconcile()
    assert set(client.states(group).values()) == {'planned'}


def test_servers_and_volumes_that_are_spread_together_are_no_violation(
        world, client):
    """Neither the server nor the volume alone is in two racks."""
    document = database(volumes=1, location='b')
    document['members'][0]['location'] = 'a'
    document['policies'] = [
        {'type': 'spread', 'level': 'rack', 'max_skew': 0, 'min_domains': 2}]
    answer = client.ask('POST', '/v1/groups?wait=60', {'group': document})
    group = answer.json['group']['id']
    assert client.pools(group) == {'data-0': 'array@b#fast'}
    world.build(world.table.get_group(group), 'server-0')
    world.reconcile_members()
    found = client.ask('GET', f'/v1/groups/{group}').json['group']
    assert (found['status'], found['violations']) == ('complete', [])


def test_built_servers_do_not_change_the_volumes(world, client):
    group = client.create(servers=2)
    record = world.table.get_group(group)
    for path in 'server-0', 'server-1':
        world.build(record, path)
    world.reconciler.reconcile()
    assert client.ask('GET', f'/v1/groups/{group}').json['group'][
        'status'] == 'complete'
    assert set(client.states(group).values()) == {str(MemberState.PLANNED)}
