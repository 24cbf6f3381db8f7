# SPDX-License-Identifier: Apache-2.0
"""Updates of groups with servers that are in ERROR on their hosts and have
never run. Their members are failed."""

import pytest

from nova_holistic.table.records import GroupStatus
from tests.functional.engine.updates import (
    assert_settled, held, LARGE, revised, rows, update)
from tests.functional.engine.world import RACKS, shop


@pytest.fixture
def group(world):
    return world.create(shop(nodes=1))


@pytest.fixture
def failed(world, group):
    """The row of the node, whose server has failed."""
    row = world.claim(group, 'db/node-0')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'ERROR', row.place.host,
                        launched=False)
    world.reconciler.reconcile()
    assert world.states(group)['db/node-0'] == 'failed'
    return rows(world, group)['db/node-0']


def others(host):
    """All hosts of the rack of a host."""
    return {name for name, rack in RACKS.items() if rack == RACKS[host]}


def test_an_update_keeps_a_failed_member_with_its_server(
        world, group, failed):
    used = world.vcpus_used()
    record = update(world, group, revised(nodes=1) | {'name': 'store'})
    assert_settled(world, group, 2)
    assert (record.name, record.status) == ('store', GroupStatus.BUILDING)
    assert rows(world, group)['db/node-0'] == failed
    assert (held(world, group), world.vcpus_used()) == (1, used)
    world.instances.set(failed.instance_uuid, 'ACTIVE', failed.place.host,
                        launched=True)
    world.reconciler.reconcile()
    assert world.states(group)['db/node-0'] == 'built'
    world.assert_agreement()


def test_an_added_member_is_not_in_the_rack_of_a_failed_server(
        world, group, failed):
    world.inventory.down = RACKS.keys() - others(failed.place.host)
    refused = update(world, group, revised(nodes=2))
    assert refused.reasons and refused.revision == group.revision
    assert list(rows(world, group)) == ['web', 'db/node-0']
    world.inventory.down = set()
    assert update(world, group, revised(nodes=2)).reasons == ()
    after = rows(world, group)
    assert after['db/node-1'].place.host not in others(failed.place.host)
    assert after['db/node-0'].instance_uuid == failed.instance_uuid
    world.instances.delete(failed.instance_uuid)
    world.holds.drop([failed.instance_uuid])
    world.reconciler.reconcile()
    after = rows(world, group)
    assert world.states(group)['db/node-0'] == 'planned'
    assert after['db/node-0'].place == failed.place
    world.assert_agreement()


def test_a_failed_member_with_another_description_is_planned_again(
        world, group, failed):
    """Its server is no longer a member, and still uses its capacity."""
    used = world.vcpus_used()
    assert update(world, group, revised(nodes=1, node=LARGE)).reasons == ()
    after = rows(world, group)['db/node-0']
    assert (str(after.state), after.instance_uuid, after.held) == (
        'planned', None, True)
    assert world.vcpus_used() == used + 2
    assert world.holds.has(failed.instance_uuid, failed)
