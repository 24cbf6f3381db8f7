# SPDX-License-Identifier: Apache-2.0
"""Servers that exist before their group."""

import uuid

from nova_holistic.holds.allocation_bodies import INSTANCE
from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.table.records import GroupRecord, GroupStatus, Task
from tests.functional.engine.updates import take
from tests.functional.engine.world import SMALL


def a_server(world, host, resources=SMALL, project='blue', instance=None,
             **view):
    """A server that Nova has created without a group."""
    instance = instance or str(uuid.uuid4())
    world.servers.add(instance)
    assert world.holds._requests.post({instance: {
        'allocations': {world.hosts[host]: {'resources': dict(resources)}},
        'project_id': project, 'user_id': 'ann',
        'consumer_generation': None, 'consumer_type': INSTANCE}})
    world.instances.views[instance] = InstanceView(**{
        'uuid': instance, 'host': host, 'status': 'ACTIVE', 'launched': True,
        'project_id': project, **view})
    return instance


def ask_for_group(world, document, **pending):
    """A group in the state after the API's request; no engine has worked on
    it."""
    record = GroupRecord(
        uuid=str(uuid.uuid4()), name=document['name'], project_id='blue',
        user_id='ann', status=GroupStatus.PLANNING, document=document,
        objective='spread', created_at=world.now, updated_at=world.now,
        task=Task.PLANNING, pending=pending)
    world.table.create_group(record)
    return record


def create(world, document, planner=None, **pending):
    record = ask_for_group(world, document, **pending)
    (planner or world.planner).perform(take(world, record))
    return world.table.get_group(record.uuid)


def allocated(world, servers):
    """Placement's allocations of servers. An adoption must not change them."""
    return {server: world.holds.exists(server)['allocations']
            for server in servers}
