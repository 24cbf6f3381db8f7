# SPDX-License-Identifier: Apache-2.0
"""A server that an operator has moved away from the volumes of its group.

The racks and pools are those of ``test_group_volumes``.
"""

import pytest

from nova_holistic.inventory.errors import ServiceFailed
from tests.functional.api.storage import pool
from tests.functional.api.test_group_volumes import (
    Client, database, in_one_rack)
from tests.functional.engine.world import SMALL

apart = pytest.mark.leaves('servers that move past Placement')


@pytest.fixture
def client(service, pools):
    return Client(service)


def built(world, client, location='a', **keys):
    """A group whose servers exist."""
    group = client.create(location=location, **keys)
    record = world.table.get_group(group)
    for path in sorted(client.hosts(group)):
        world.build(record, path)
    world.reconciler.reconcile()
    return group


def move(world, group, path, host):
    """A live migration with a forced host, or an evacuation."""
    (row,) = [row for row in world.table.members(group)
              if row.member.path == path]
    world.instances.set(row.instance_uuid, 'ACTIVE', host)
    world.reconciler.reconcile()


@apart
@pytest.mark.parametrize('down', [(), ('a1', 'a2')])
def test_servers_are_added_to_a_group_whose_server_was_moved(
        world, client, down):
    """The rack of the volumes may have failed."""
    group = built(world, client)
    volumes = client.shown(group)['volumes']
    world.inventory.down = set(down)
    move(world, group, 'server-0', 'b1')
    answer = client.update(group, database(servers=2, location='a'))
    found = answer.json['group']
    assert found['status'] == 'degraded', found
    # The reasons state why the first server cannot move back.
    assert bool(found['reasons']) == bool(down)
    (violation,) = found['violations']
    assert violation['at'] == 'affinity'
    assert client.hosts(group).keys() == {'server-0', 'server-1'}
    assert client.shown(group)['volumes'] == volumes


@apart
def test_released_volumes_are_no_violation_of_an_update(world, client):
    group = built(world, client)
    client.release(group, 'data-1')
    move(world, group, 'server-0', 'b1')
    answer = client.update(group, database(servers=2, location='a'))
    (violation,) = answer.json['group']['violations']
    assert violation['at'] == 'affinity'


@apart
def test_an_update_with_a_policy_that_no_plan_satisfies_is_refused(
        world, client):
    """All hosts in the rack of the volumes are full."""
    group = built(world, client)
    for host in 'a1', 'a2':
        world.placement.allocate(world.hosts[host], {
            'VCPU': 2 - world.placement.used(world.hosts[host])['VCPU']})
    move(world, group, 'server-0', 'b1')
    before = client.hosts(group)
    document = database(servers=2, location='a')
    document['policies'].append({'type': 'anti-affinity'})
    answer = client.update(group, document)
    assert answer.json['group']['reasons']
    assert client.hosts(group) == before


def statuses(client, group):
    found = client.ask('GET', f'/v1/groups/{group}').json['group']
    return found['status'], [each['at'] for each in found['violations']]


def test_a_server_apart_from_its_volumes_degrades_the_group(world, client):
    group = built(world, client, servers=1)
    move(world, group, 'server-0', 'a2')
    assert statuses(client, group) == ('complete', [])
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group) == ('degraded', ['affinity'])
    move(world, group, 'server-0', 'a1')
    assert statuses(client, group) == ('complete', [])


def test_a_repair_moves_the_servers_back_to_the_volumes(world, client):
    """A majority of the members is in the other rack."""
    group = built(world, client, servers=2, volumes=1)
    before = client.pools(group)
    for path in 'server-0', 'server-1':
        move(world, group, path, 'b1')
    answer = client.ask('POST', f'/v1/groups/{group}/repair?wait=60',
                        {'repair': {'apply': True}})
    assert answer.json['group']['reasons'] == []
    assert statuses(client, group) == ('complete', [])
    assert in_one_rack(client, group)
    assert client.pools(group) == before


@apart
def test_a_repair_that_is_impossible_names_the_policy(world, client):
    group = built(world, client)
    move(world, group, 'server-0', 'b1')
    world.inventory.down = {'a1', 'a2'}
    answer = client.ask('POST', f'/v1/groups/{group}/repair', {'repair': {}})
    found = answer.json['repair']
    assert found['moves'] == []
    assert 'affinity' in str(found['reasons'])
    assert client.hosts(group) == {'server-0': 'b1'}


def test_actions_after_an_update_move_the_servers_back(world, client):
    group = built(world, client)
    move(world, group, 'server-0', 'b1')
    answer = client.update(group, database(location='a'))
    (action,) = answer.json['group']['actions']
    assert (action['action'], action['from_host']) == ('migrate', 'b1')
    assert action['to_host'] in ('a1', 'a2')
    move(world, group, 'server-0', 'a1')


def test_a_deleted_server_is_planned_again_near_the_volumes(world, client):
    group = built(world, client, servers=2)
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group)[0] == 'degraded'
    row = world.table.members(group)[0]
    world.instances.delete(row.instance_uuid)
    world.reconcile_members()
    assert in_one_rack(client, group)
    assert set(world.states(world.table.get_group(group)).values()) <= {
        'planned', 'built'}
    assert statuses(client, group)[1] == []


@apart
def test_a_released_volume_no_longer_degrades_the_group(world, client):
    group = built(world, client)
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group)[0] == 'degraded'
    client.release(group, 'data')
    world.wait(world.conf.reconciler.drift_interval)
    world.reconciler.reconcile()
    assert statuses(client, group) == ('complete', [])


@apart
def test_the_current_position_of_a_pool_counts(world, client, pools):
    """An operator moves the array to another rack."""
    group = built(world, client)
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group)[0] == 'degraded'
    pools[0] = pool('array@a#fast', 'b', 100)
    world.wait(world.conf.reconciler.drift_interval)
    world.reconciler.reconcile()
    assert statuses(client, group) == ('complete', [])


@apart
def test_the_pools_are_read_once_for_all_degraded_groups(
        world, client, monkeypatch):
    groups = [built(world, client, volumes=1) for _ in range(2)]
    for group in groups:
        move(world, group, 'server-0', 'b1')
        assert statuses(client, group)[0] == 'degraded'
    # The change of the status of the second group causes another check.
    world.reconciler.reconcile()
    read, times = world.inventory.read_pools, []
    monkeypatch.setattr(world.inventory, 'read_pools', lambda snapshot: (
        times.append(1), read(snapshot))[1])
    world.reconciler.reconcile()
    assert not times
    world.wait(world.conf.reconciler.drift_interval)
    world.reconciler.reconcile()
    assert len(times) == 1


@apart
def test_groups_without_volumes_read_no_pools(world, client, monkeypatch):
    def never(snapshot):
        raise AssertionError('the pools were read')

    record = world.create({
        'name': 'web', 'policies': [{'type': 'affinity', 'level': 'rack'}],
        'members': [{'name': 'server', 'count': 2, 'resources': SMALL,
                     'location': 'a'}]})
    monkeypatch.setattr(world.inventory, 'read_pools', never)
    monkeypatch.setattr(world.table.volumes, 'of_group', never)
    for path in 'server-0', 'server-1':
        world.build(record, path)
    world.reconciler.reconcile()
    move(world, record.uuid, 'server-0', 'b1')
    assert statuses(client, record.uuid) == ('degraded', ['affinity'])
    world.wait(world.conf.reconciler.drift_interval)
    world.reconciler.reconcile()
    assert statuses(client, record.uuid) == ('degraded', ['affinity'])


@apart
def test_planned_positions_count_while_cinder_does_not_answer(
        world, client, caplog):
    def no_answer(snapshot):
        raise ServiceFailed('cinder', '/scheduler-stats', 'no answer')

    group = built(world, client)
    world.inventory.read_pools = no_answer
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group) == ('degraded', ['affinity'])
    assert 'The storage pools cannot be read' in caplog.text


def test_exclusive_racks_are_those_of_the_servers(world, client):
    """A server from outside the group is in the rack of the volumes."""
    document = database(location='b')
    document['members'][0]['location'] = 'a'
    document['policies'] = [{'type': 'exclusive', 'level': 'rack'}]
    answer = client.ask('POST', '/v1/groups?wait=60', {'group': document})
    group = answer.json['group']['id']
    other = world.create({'name': 'other', 'members': [
        {'name': 's', 'resources': SMALL, 'location': 'b'}]})
    assert other.status == 'planned'
    world.build(world.table.get_group(group), 'server-0')
    world.reconciler.reconcile()
    assert statuses(client, group) == ('complete', [])


def test_preferences_of_volumes_degrade_no_group(world, client):
    document = database(location='a')
    document['policies'][0]['weight'] = 1
    answer = client.ask('POST', '/v1/groups?wait=60', {'group': document})
    group = answer.json['group']['id']
    world.build(world.table.get_group(group), 'server-0')
    world.reconciler.reconcile()
    assert statuses(client, group) == ('complete', [])
    move(world, group, 'server-0', 'b1')
    assert statuses(client, group) == ('complete', [])
    move(world, group, 'server-0', 'a1')
