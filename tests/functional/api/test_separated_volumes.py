# SPDX-License-Identifier: Apache-2.0
"""A server that an operator has moved away from the volumes of its group.

The racks and pools are those of ``test_group_volumes``.
"""

import pytest

from tests.functional.api.test_group_volumes import Client, database

pytestmark = pytest.mark.leaves('servers that move past Placement')


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
    assert (found['status'], found['reasons']) == ('degraded', []), found
    (violation,) = found['violations']
    assert violation['at'] == 'affinity'
    assert client.hosts(group).keys() == {'server-0', 'server-1'}
    assert client.shown(group)['volumes'] == volumes


def test_released_volumes_are_no_violation_of_an_update(world, client):
    group = built(world, client)
    client.release(group, 'data-1')
    move(world, group, 'server-0', 'b1')
    answer = client.update(group, database(servers=2, location='a'))
    (violation,) = answer.json['group']['violations']
    assert violation['at'] == 'affinity'


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
