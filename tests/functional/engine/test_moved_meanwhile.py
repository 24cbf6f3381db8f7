# SPDX-License-Identifier: Apache-2.0
"""A pass does not change a member that an update moves during the pass."""

from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, Task
from tests.functional.engine.world import RACKS, shop


class Meanwhile:
    """Calls a function once, just before a method."""

    def __init__(self, thing, name, event):
        self._thing = thing
        self._name = name
        self._events = iter([event])

    def __getattr__(self, name):
        if name == self._name:
            next(self._events, lambda: None)()
        return getattr(self._thing, name)


def web(world, group):
    return world.table.members(group.uuid)[0]


def move(world, group):
    """Revise the group, so that its web server must be on another host."""
    was = web(world, group).place.host
    host_name = next(host for host, provider in world.hosts.items()
                     if host != was and host not in world.inventory.down
                     and world.placement.used(provider)['VCPU'] < 2)
    document = shop()['group']
    document['members'][0]['location'] = f'{RACKS[host_name]}/{host_name}'
    assert world.table.tasks.request(
        group.uuid, NewTask(
            Task.UPDATING, {'document': document}, [GroupStatus.PLANNED], 1),
        world.now)
    world.planner.perform(world.table.tasks.take(
        group.uuid, 'engine', world.now, world.now))
    assert web(world, group).place.host == host_name


def reconcile(world, table=None, holds=None):
    """A pass that does not plan lost members again."""
    world.conf.set_override('replans', 0, group='reconciler')
    world.conf.set_override('host_grace', 0, group='reconciler')
    return Reconciler(world.components(
        table=table or world.table, holds=holds or world.holds)).reconcile()


def assert_moved(world, group):
    assert world.table.get_group(group.uuid).revision == 2
    assert world.states(group)['web'] == 'planned'
    world.build(group, 'web')
    world.assert_agreement()


def test_a_member_that_moves_during_the_snapshot_is_kept(world):
    group = world.create()
    world.inventory.down = {web(world, group).place.host}
    first = world.inventory.taken + 1
    world.inventory.stale = lambda number: (
        move(world, group) if number == first else None)
    reconcile(world)
    assert_moved(world, group)


def test_a_member_that_moves_before_it_is_marked_lost_is_kept(world):
    group = world.create()
    world.inventory.down = {web(world, group).place.host}
    reconcile(world, table=Meanwhile(
        world.table, 'change_state', lambda: move(world, group)))
    assert_moved(world, group)


def test_a_member_that_moves_before_its_hold_is_restored_is_kept(world):
    """The hold of the member was deleted, and other servers use the
    capacity."""
    group = world.create()
    row = web(world, group)
    world.holds.drop([row.hold])
    left = 2 - world.placement.used(row.place.provider)['VCPU']
    other_server = world.placement.allocate(row.place.provider, {'VCPU': left})
    reconcile(world, holds=Meanwhile(
        world.holds, 'put', lambda: move(world, group)))
    world.holds.drop([other_server])
    assert_moved(world, group)
