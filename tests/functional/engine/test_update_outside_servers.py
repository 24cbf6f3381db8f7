# SPDX-License-Identifier: Apache-2.0
"""Servers from outside the group are created on a host of an exclusive group
during its update."""

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.world import SMALL


def alone(nodes):
    return {'name': 'alone', 'policies': [{'type': 'exclusive'}],
            'members': [{'name': 'node', 'count': nodes,
                         'resources': SMALL}]}


def test_a_server_that_came_after_the_last_look_is_reported(world):
    """The update has ended by then: the group has its third node, and the
    reasons name the shared host."""
    group = world.create({'group': alone(2)})
    host = world.table.members(group.uuid)[0].place.host
    came = []

    def other_server(_number):
        # The new hold is in Placement, and this snapshot is already taken.
        if not came and world.vcpus_used() == 3:
            came.append(world.placement.allocate(
                world.hosts[host], {'VCPU': 1}))

    world.inventory.stale = other_server
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': alone(3)}, [GroupStatus.PLANNED]),
        world.now)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))
    record = world.table.get_group(group.uuid)
    assert came
    assert (record.revision, record.status) == (2, GroupStatus.PLANNED)
    assert any(host in reason['message'] for reason in record.reasons)
    assert set(world.states(group).values()) == {'planned'}
