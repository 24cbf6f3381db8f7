# SPDX-License-Identifier: Apache-2.0
"""All servers of a degraded group are deleted."""

import pytest

from tests.functional.engine.adopting import a_server
from tests.functional.engine.world import SMALL

PAIR = {'name': 'pair', 'policies': [{'type': 'anti-affinity'}], 'members': [
    {'name': 'n', 'count': 2, 'resources': SMALL}]}


@pytest.fixture
def group(world):
    group = world.create(PAIR)
    servers = build_on_one_host(world, group)
    world.reconciler.reconcile()
    assert world.table.get_group(group.uuid).status == 'degraded'
    world.holds.drop(servers)
    for instance in servers:
        world.instances.delete(instance)
    return group


def build_on_one_host(world, group):
    """Create both servers, and move them to one host without the scheduler.

    :returns: UUIDs of the servers
    """
    servers = [world.build(group, f'n-{number}').instance_uuid
               for number in range(2)]
    world.reconciler.reconcile()
    for instance in servers:
        row = world.table.member_of_instance(instance)
        if row.place.host != 'a1':
            world.holds.drop([instance])
            a_server(world, 'a1', instance=instance)
        world.instances.set(instance, 'ACTIVE', 'a1')
    return servers


def test_the_places_of_the_deleted_servers_satisfy_the_policies(world, group):
    found = world.reconciler.reconcile()
    assert (found['misplaced'], found['replanned']) == (1, 1)
    rows = world.table.members(group.uuid)
    assert {row.state for row in rows} == {'planned'}
    assert len({row.place.host for row in rows}) == 2
    assert world.table.get_group(group.uuid).status == 'planned'
    assert world.reconciler.reconcile() == {}


def test_new_servers_may_violate_the_same_policy(world, group):
    """The violation of the new servers is equal to the former one."""
    world.reconciler.reconcile()
    servers = build_on_one_host(world, group)
    assert world.reconciler.reconcile()['degraded'] == 1
    record = world.table.get_group(group.uuid)
    assert record.status == 'degraded'
    assert [each['names'] for each in record.violations] == [['a/a1']]
    assert {row.instance_uuid for row in world.rows()} == set(servers)
