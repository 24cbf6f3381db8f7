# SPDX-License-Identifier: Apache-2.0
"""Members are corrected when a change of their servers is reported, without a
pass of the reconciler."""

from keystoneauth1 import adapter, session, token_endpoint
import pytest

from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.reconciler import Reconciler
from tests.functional.engine.world import shop
from tests.unit.reconcile.nova import Nova

OTHER_SERVER = '3f1a6f5e-2f6c-4f0e-9b3e-7a57f4d0a001'


@pytest.fixture
def nova(world):
    return Nova(world.clock)


@pytest.fixture
def reconciler(world, nova):
    return reconciler_with(world, NovaInstances(nova.adapter))


def reconciler_with(world, instances):
    return Reconciler(world.components(instances=instances))


def claimed(world, group, path):
    row = world.claim(group, path)
    world.swap(row)
    return row


def test_servers_that_no_member_has_are_not_read(
        world, nova, reconciler):
    world.create()
    assert reconciler.check_servers([OTHER_SERVER]) == frozenset()
    assert nova.asked == []


def test_reported_servers_become_built_members(world, nova, reconciler):
    group = world.create()
    rows = [claimed(world, group, path)
            for path in ('web', 'db/node-0', 'db/node-1')]
    for row in rows[:2]:
        nova.set(row.instance_uuid, host=row.place.host)
    nova.set(rows[2].instance_uuid, host=None, status='BUILD')
    assert reconciler.check_servers(
        [row.instance_uuid for row in rows]) == frozenset()
    assert world.states(group) == {
        'web': 'built', 'db/node-0': 'built', 'db/node-1': 'claimed'}
    assert len(nova.asked) == 3


def test_a_server_that_nova_does_not_know_is_left_to_the_passes(
        world):
    """Only a complete pass shows whether [nova] names another cloud."""
    group = world.create(shop(1), lease=0)
    row = world.build(group, 'web')
    wrong = NovaInstances(adapter.Adapter(
        session.Session(auth=token_endpoint.Token(world.endpoint, 'admin')),
        service_type='compute'))
    found = reconciler_with(world, wrong)
    assert found.check_servers([row.instance_uuid]) == {row.instance_uuid}
    assert world.states(group)['web'] == 'built'
    world.assert_agreement()


def test_a_server_that_nova_cannot_show_delays_no_other_server(
        world, nova, reconciler):
    group = world.create()
    rows = [claimed(world, group, path) for path in ('web', 'db/node-0')]
    for row in rows:
        nova.set(row.instance_uuid, host=row.place.host)
    nova.broken.add(min(row.instance_uuid for row in rows))
    unsettled = reconciler.check_servers([row.instance_uuid for row in rows])
    assert unsettled == nova.broken
    assert sorted(world.states(group).values()) == [
        'built', 'claimed', 'planned']


def test_a_group_settles_when_its_last_server_is_reported(
        world, nova, reconciler):
    group = world.create(shop(1))
    for path in ('web', 'db/node'):
        row = claimed(world, group, path)
        nova.set(row.instance_uuid, host=row.place.host)
        reconciler.check_servers([row.instance_uuid])
    assert world.table.get_group(group.uuid).status == 'complete'
