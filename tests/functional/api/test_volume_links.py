# SPDX-License-Identifier: Apache-2.0
"""The bandwidth between servers and volumes counts for all other groups."""

import pytest

from tests.functional.api.storage import pool
from tests.functional.api.test_group_volumes import Client, refuse
from tests.functional.engine.test_shared_links import LinkedWorld, RACKS
from tests.functional.engine.world import SMALL


@pytest.fixture
def world(tmp_path):
    """The uplink of each of the racks a to d has 1000 Mbit/s."""
    with LinkedWorld(tmp_path, RACKS, vcpus=8) as world:
        yield world


@pytest.fixture
def client(service, pools):
    return Client(service)


def replicated(mbps=600):
    """A server in rack a whose volume is in another rack."""
    return {'name': 'db', 'members': [
        {'name': 'server', 'resources': SMALL, 'location': 'a'},
        {'name': 'data', 'kind': 'volume', 'size': 10}],
        'relationships': [
            {'type': 'anti-affinity', 'between': ['server', 'data'],
             'level': 'rack'},
            {'type': 'bandwidth', 'between': ['server', 'data'],
             'level': 'rack', 'mbps': mbps}]}


def create(client, **keys):
    return client.ask('POST', '/v1/groups?wait=60', {
        'group': replicated(**keys)}).json['group']


def test_the_traffic_of_volumes_stays_reserved(world, client):
    group = create(client)['id']
    assert world.recorded_loads() == {'a': 600, 'b': 600}
    world.build(world.table.get_group(group), 'server')
    world.reconciler.reconcile()
    assert world.recorded_loads() == {'a': 600, 'b': 600}
    assert create(client)['status'] == 'unplaceable'
    assert create(client, mbps=400)['status'] == 'planned'
    assert world.recorded_loads() == {'a': 1000, 'b': 1000}


def test_a_released_volume_frees_its_traffic(world, client):
    group = create(client)['id']
    client.release(group, 'data')
    assert create(client)['status'] == 'planned'
    assert world.recorded_loads() == {'a': 600, 'b': 600}


def test_a_lost_volume_takes_its_traffic_to_another_rack(
        world, client, pools):
    group = create(client)['id']
    assert client.pools(group) == {'data': 'array@b#fast'}
    pools.append(pool('array@c#fast', 'c', 100))
    refuse(world, group, 'data')
    world.reconciler.reconcile()
    assert client.pools(group) == {'data': 'array@c#fast'}
    world.reconciler.reconcile()
    assert world.recorded_loads() == {'a': 600, 'c': 600}


def test_a_group_that_is_deleted_frees_its_traffic(world, client):
    group = create(client)['id']
    client.ask('DELETE', f'/v1/groups/{group}')
    assert +world.recorded_loads() == {}
