# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which an update requires actions on servers, and an engine
carries them out. At first, a rack may contain any number of members."""

from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.table.records import Task
from tests.services.crash import operations as do
from tests.services.crash.operations import nodes
from tests.services.crash.scenarios import BOTH, BUILT, passes

RUNNING = dict.fromkeys(BOTH, 'built')


def _group_in_rack(world, *paths, status='ACTIVE'):
    """A group of two members on the hosts of one rack, and servers of some of
    them."""
    group = world.planned(nodes(level=None, location='a'))
    servers = {path: world.built(group, path) for path in paths}
    world.sees(*(InstanceView(
        server, world.row(group, path).place.host, status, launched=True)
        for path, server in servers.items()))
    return group


def _updated(world, group, document):
    """Request an update with actions; returns the group."""
    return world.asked(
        group, Task.UPDATING, document=document['group'], released=[],
        actions=True, apply=True)


@passes('action.list-written', 'action.started', 'action.asked',
        'action.waiting', 'action.position-written', 'action.row-written',
        'action.done', states=RUNNING)
def move_apart(world):
    """The revised group requires servers in different racks."""
    group = _group_in_rack(world, *BOTH)
    return group, do.perform, _updated(world, group, nodes())


@passes('action.confirmed', states=RUNNING)
def move_apart_when_off(world):
    group = _group_in_rack(world, *BOTH, status='SHUTOFF')
    return group, do.perform, _updated(world, group, nodes())


@passes('action.continued', states=RUNNING)
def move_apart_after_a_crash(world):
    group = _group_in_rack(world, *BOTH, status='SHUTOFF')
    _updated(world, group, nodes())
    world.dies('action.waiting', do.perform, group)
    return group, do.take_over, group


@passes('action.row-corrected', states=RUNNING)
def name_the_location(world):
    """The servers are already where the definition requires them."""
    group = _group_in_rack(world, *BOTH)
    return group, do.perform, _updated(
        world, group, nodes(level=None))


@passes('action.failure-noted', states=RUNNING)
def move_apart_without_success(world):
    group = _group_in_rack(world, *BOTH)
    return group, do.perform_without_success, _updated(world, group, nodes())


@passes('action.place-given-up', states=BUILT)
def move_together(world):
    """The planned member stays with the server until the server moves."""
    group = _group_in_rack(world, 'node-0')
    document = nodes(level=None)
    document['group']['policies'] = [
        {'type': 'affinity', 'level': 'rack'},
        {'type': 'location', 'path': 'b'}]
    return group, do.perform, _updated(world, group, document)
