# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic group repair``"""

import pytest

from nova_holistic.table.records import MemberState
from tests.functional.engine.world import SMALL
from tests.unit.api.service import ADMIN

pytestmark = pytest.mark.leaves('servers that move past Placement')
APART = [{'type': 'anti-affinity', 'level': 'rack'}]
PAIR = {'name': 'pair', 'policies': APART, 'members': [
    {'name': 'n', 'count': 2, 'resources': SMALL}]}


@pytest.fixture
def broken(world):
    """A group with both servers on one host."""
    group = world.create(PAIR)
    first, second = [world.build(group, path) for path in ('n-0', 'n-1')]
    world.instances.set(second.instance_uuid, 'ACTIVE', first.place.host)
    world.reconciler.reconcile()
    assert world.table.get_group(group.uuid).status == 'degraded'
    return group, first.place.host


def test_a_proposal_is_shown_and_changes_nothing(world, broken, read):
    group, host = broken
    (move,) = read('group', 'repair', group.uuid, user=ADMIN)
    assert (move['source'], move['member'][:2]) == (host, 'n-')
    assert move['destination'] != host
    assert {row.place.host for row in world.table.members(group.uuid)} == {
        host}


def test_a_repair_is_carried_out(world, broken, read):
    group, host = broken
    (move,) = read('group', 'repair', group.uuid, '--apply', '--wait',
                   user=ADMIN)
    assert move['source'] == host
    body = read('group', 'show', group.uuid, user=ADMIN)
    assert (body['status'], body['violations']) == ('complete', [])
    assert read('group', 'repair', group.uuid, user=ADMIN) == []


def test_a_group_that_cannot_be_repaired_is_reported(
        world, broken, failed):
    group, host = broken
    rows = world.table.members(group.uuid)
    for row in rows:
        assert row.state == MemberState.BUILT
        world.instances.set(row.instance_uuid, 'SHUTOFF', host)
    line = failed('group', 'repair', group.uuid, user=ADMIN)
    assert 'cannot be repaired: ' in line and 'anti-affinity' in line


def test_a_user_may_not_repair(broken, failed):
    group, _ = broken
    assert 'holistic:groups:repair' in failed('group', 'repair', group.uuid)
