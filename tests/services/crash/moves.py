# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which servers move against the policies of their group, and the
group is repaired. No two members may be in one rack."""

from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.table.records import Task
from tests.services.crash import operations as do
from tests.services.crash.scenarios import BOTH, BUILT, passes

RUNNING = dict.fromkeys(BOTH, 'built')


def _running(world, *paths):
    """A group with running servers of some of its members."""
    group = world.planned()
    servers = {path: world.built(group, path) for path in paths}
    world.sees(*(InstanceView(
        server, world.row(group, path).place.host, 'ACTIVE', launched=True)
        for path, server in servers.items()))
    return group, servers


def _other_host(world, group, path):
    """The other host in the rack of a member."""
    host = world.row(group, path).place.host
    (other,) = {name for name in world.site.hosts
                if name[0] == host[0]} - {host}
    return other


def _together(world, *paths):
    """A group whose first server was forced into the rack of the second
    member, and its servers by path."""
    group, servers = _running(world, *paths)
    world.lives(do.force, servers['node-0'],
                _other_host(world, group, 'node-1'))
    return group, servers


@passes('positions.row-corrected', states=BUILT)
def read_the_positions_of_servers(world):
    """The group has a lost member, which an engine plans again."""
    group, servers = _running(world, 'node-0')
    world.lives(do.force, servers['node-0'],
                _other_host(world, group, 'node-0'))
    world.lose(group, 'node-1')
    world.asked(group, Task.REPLANNING)
    return group, do.perform, group


@passes('drift.degraded', states=RUNNING, again=True)
def check_a_group(world):
    group, _ = _together(world, *BOTH)
    return group, do.reconcile_and_repair, group


@passes('drift.place-given-up', states=BUILT)
def check_a_group_with_a_planned_member(world):
    group, servers = _running(world, 'node-0')
    return (group, do.reconcile_around_move, servers['node-0'],
            _other_host(world, group, 'node-1'))


@passes('drift.recovered', states=RUNNING)
def check_a_group_that_has_recovered(world):
    group, servers = _running(world, *BOTH)
    source = world.row(group).place.host
    world.lives(do.force, servers['node-0'],
                _other_host(world, group, 'node-1'))
    world.lives(do.reconcile)
    world.lives(do.force, servers['node-0'], source)
    return group, do.reconcile


@passes('move.destination-written', states=RUNNING)
def send_a_server(world):
    """The scheduler is killed, so the conductor's request fails, and the
    server stays on its host."""
    group, servers = _running(world, *BOTH)
    return (group, do.send, group, servers['node-0'],
            _other_host(world, group, 'node-0'))


@passes('move.allocations-restored', states=RUNNING)
def send_a_server_again(world):
    group, servers = _running(world, *BOTH)
    return (group, do.send, group, servers['node-0'],
            _other_host(world, group, 'node-0'), servers['node-1'])


@passes('repair.moves-awaited', 'repair.move-begins', 'repair.move-asked',
        'repair.waiting', 'repair.move-ended', states=RUNNING)
def repair(world):
    group, _ = _together(world, *BOTH)
    world.lives(do.reconcile)
    world.asked(group, Task.REPAIRING)
    return group, do.perform, group


@passes('repair.place-given-up', states=BUILT)
def repair_by_planning_again(world):
    group, _ = _together(world, 'node-0')
    world.lives(do.reconcile)
    world.asked(group, Task.REPAIRING)
    return group, do.perform, group
