# SPDX-License-Identifier: Apache-2.0
"""Real code of table, engine and reconciler makes each transition of the two
state machines, on a real Placement."""

from dataclasses import replace
import functools
import pathlib
import tempfile

import pytest

from nova_holistic import exceptions
from nova_holistic.table.changes import detaching, group_growth
from nova_holistic.table.changes.detaching import Detached
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table import states
from tests.functional.engine.adopting import a_server
from tests.functional.engine.transitions import Transitions
from tests.functional.engine.updates import (
    fill, revised, Silent, take, update)
from tests.functional.engine.world import shop, SMALL, VCPUS, World
from tests.unit.table import builders


def serve(world, group, path='web', status='ACTIVE'):
    """Create a server, which a pass finds in Nova."""
    row = world.claim(group, path)
    world.swap(row)
    world.instances.set(row.instance_uuid, status, row.place.host,
                        launched=status == 'ACTIVE')
    world.reconciler.reconcile()
    return row


def delete(world, *rows):
    for row in rows:
        world.instances.delete(row.instance_uuid)
        world.holds.drop([row.instance_uuid])
    world.reconciler.reconcile()


def take_room(world, row):
    """Another server takes the capacity of a member that has neither hold
    nor allocation."""
    used = world.placement.used(row.place.provider)['VCPU']
    world.placement.allocate(row.place.provider, {'VCPU': VCPUS - used})


def lose(world, group, path='web'):
    row = next(m for m in world.table.members(group.uuid)
               if m.member.path == path)
    world.holds.drop([row.hold])
    take_room(world, row)
    world.conf.set_override('replans', 0, group='reconciler')
    world.reconciler.reconcile()
    world.conf.clear_override('replans', group='reconciler')


def replan(world, group):
    assert world.table.tasks.request(
        group.uuid, NewTask('replanning', {}, list(GroupStatus)), world.now)
    world.planner.perform(take(world, group))


def broken_off(world):
    """A group whose planner was killed, in the state in which the reconciler
    leaves it."""
    group = builders.a_group(
        GroupStatus.PLANNING, document=shop()['group'], levels=(),
        created_at=world.now, updated_at=world.now)
    world.table.create_group(group)
    world.wait_out_grace()
    world.reconciler.reconcile()
    return group


def a_build_and_its_end(world):
    group = world.create(shop(1), lease=0)
    rows = [serve(world, group, path) for path in ('web', 'db/node-0')]
    delete(world, rows[0])
    delete(world, serve(world, group), rows[1])


def a_release_and_the_end_of_servers(world):
    group = world.create(shop(1), lease=0)
    web = serve(world, group)
    world.lifecycle.release(group.uuid)
    delete(world, web)
    update(world, group, revised(nodes=1))
    world.lifecycle.release(group.uuid)


def a_claim_that_ends_after_a_release(world):
    group = world.create(shop(1), lease=0)
    row = world.claim(group, 'web')
    world.swap(row)
    world.lifecycle.release(group.uuid)
    world.instances.set(row.instance_uuid, 'ERROR')
    world.reconciler.reconcile()


def a_server_whose_member_was_returned(world):
    """Another server gets a place after the lease."""
    group = world.create(
        {'name': 'one', 'members': [{'name': 'web', 'resources': SMALL}]})
    row = serve(world, group)
    world.lifecycle.release(group.uuid)
    delete(world, row)
    record, rows = world.table.group_with_members(group.uuid)
    assert record.status == 'released'
    assert group_growth.grow(
        world.table.database, group_growth.Growth(record, replace(
            rows[0], state=MemberState.CLAIMED, hold=builders.new_uuid(),
            held=False, instance_uuid=builders.new_uuid()), rows[0]),
        rows, world.now) == row.id


def a_build_that_fails(world):
    group = world.create(shop(1), lease=0)
    row = world.claim(group, 'web')
    world.swap(row)
    world.instances.set(row.instance_uuid, 'ERROR')
    world.reconciler.reconcile()
    row = world.claim(group, 'web')
    world.swap(row)
    world.holds.drop([row.instance_uuid])
    take_room(world, row)
    world.instances.set(row.instance_uuid, 'ERROR')
    world.reconciler.reconcile()


def a_server_in_error_on_its_host(world):
    group = world.create(shop(1), lease=0)
    delete(world, serve(world, group, status='ERROR'))
    row = serve(world, group, status='ERROR')
    world.instances.set(row.instance_uuid, 'ACTIVE', row.place.host,
                        launched=True)
    world.reconciler.reconcile()
    other = world.create(shop(1), lease=0)
    serve(world, other, status='ERROR')
    world.lifecycle.release(other.uuid)


def a_failed_member_in_an_update(world):
    group = world.create(shop(1), lease=0)
    serve(world, group, status='ERROR')
    update(world, group, revised(nodes=1, web={'VCPU': 2}))


def existing_servers_that_are_adopted(world):
    group = world.create(shop(1), lease=0)
    update(world, group, adopting(world))
    world.lifecycle.release(group.uuid)
    assert detach(world, group, 'web') == Detached.DONE
    update(world, group, adopting(world))


def existing_servers_that_are_all_members(world):
    group = world.create(shop(1), lease=0)
    for _ in range(2):
        update(world, group, adopting(world, 'web', 'db/node-0'))
        for path in ('web', 'db/node-0'):
            detach(world, group, path)


def a_lost_member_that_becomes_an_existing_server(world):
    group = world.create(shop(1), lease=0)
    lose(world, group)
    update(world, group, adopting(world))


def a_failed_member_that_becomes_an_existing_server(world):
    group = world.create(shop(1), lease=0)
    serve(world, group, status='ERROR')
    update(world, group, adopting(world))


def adopting(world, *paths):
    return revised(nodes=1) | {'adopt': {
        path: a_server(world, host_with_room(world))
        for path in paths or ['web']}}


def host_with_room(world):
    return next(name for name, provider in world.hosts.items()
                if world.placement.used(provider)['VCPU'] < VCPUS)


def detach(world, group, path):
    return detaching.detach(
        world.table.database, group.uuid, path, world.now)


def a_lost_place(world):
    group = world.create(shop(1), lease=0)
    lose(world, group)
    world.planner.replan(group.uuid)
    lose(world, group)
    update(world, group, revised(nodes=1, web={'VCPU': 2}))
    lose(world, group, 'db/node-0')
    world.lifecycle.release(group.uuid)


def an_update_that_needs_its_own_room(world):
    """Placement does not respond when the capacity is exchanged."""
    group = world.create()
    fill(world)
    refused = update(
        world, group, revised() | {'members': [
            {'name': 'front', 'resources': SMALL}]},
        world.planner_with(world.table, Silent(world.holds, 'exchange')))
    assert refused.reasons


def no_plan_and_then_one(world):
    group = world.create(shop(3), lease=0)
    world.inventory.snapshot, real = _fails, world.inventory.snapshot
    replan(world, group)
    world.inventory.snapshot = real
    world.table.update_group(
        group.uuid, list(GroupStatus), document=shop(3)['group'])
    replan(world, group)
    update(world, group, revised(nodes=2))
    other = world.create(shop(3), lease=0)
    world.table.update_group(
        other.uuid, list(GroupStatus), document=shop(1)['group'])
    world.lifecycle.delete(group.uuid)
    replan(world, other)


def planning_that_breaks_off(world):
    replan(world, broken_off(world))


def servers_that_drift(world):
    """Nova moves a server to the host of the other one, and back."""
    group = world.create(shop(2), lease=0)
    nodes = [serve(world, group, f'db/node-{number}') for number in (0, 1)]
    home = nodes[1].place.host
    move(world, nodes[1], nodes[0].place.host)
    move(world, nodes[1], home)
    serve(world, group)
    move(world, nodes[1], nodes[0].place.host)
    move(world, nodes[1], home)


def servers_that_are_deleted_while_they_break_a_policy(world):
    for lease in (0, 60):
        group = world.create(shop(2), lease=lease)
        nodes = [serve(world, group, f'db/node-{number}')
                 for number in (0, 1)]
        move(world, nodes[1], nodes[0].place.host)
        if lease:
            world.lifecycle.release(group.uuid)
        for row in nodes:
            world.instances.delete(row.instance_uuid)
            world.holds.drop([row.instance_uuid])
        world.reconciler.reconcile()


def move(world, row, host):
    world.instances.set(row.instance_uuid, 'ACTIVE', host, launched=True)
    world.reconciler.reconcile()


def _fails():
    raise exceptions.HolisticError('no answer')


STORIES = (
    a_build_and_its_end, a_release_and_the_end_of_servers,
    a_claim_that_ends_after_a_release, a_server_whose_member_was_returned,
    a_build_that_fails,
    a_server_in_error_on_its_host, a_failed_member_in_an_update,
    existing_servers_that_are_adopted,
    existing_servers_that_are_all_members,
    a_lost_member_that_becomes_an_existing_server,
    a_failed_member_that_becomes_an_existing_server,
    a_lost_place, an_update_that_needs_its_own_room, no_plan_and_then_one,
    planning_that_breaks_off, servers_that_drift,
    servers_that_are_deleted_while_they_break_a_policy)


@functools.cache
def walked(story):
    """The transitions of members and of groups in a scenario."""
    with (tempfile.TemporaryDirectory() as directory,
          World(pathlib.Path(directory)) as world):
        transitions = Transitions(world)
        story(world)
        return tuple(transitions.members), tuple(transitions.groups)


def edges(machine):
    return sorted({(str(t.before), str(t.after))
                   for t in machine.transitions})


@pytest.mark.parametrize('edge', edges(states.MEMBERS), ids='-'.join)
def test_each_edge_between_member_states_is_walked(edge):
    assert any(edge in walked(story)[0] for story in STORIES)


@pytest.mark.parametrize('edge', edges(states.GROUPS), ids='-'.join)
def test_each_edge_between_group_statuses_is_walked(edge):
    assert any(edge in walked(story)[1] for story in STORIES)


def test_a_member_that_an_update_vacates_is_planned_again():
    """It calls ``vacate`` and ``occupy``, and not ``lose`` and ``replan``."""
    members, _ = walked(an_update_that_needs_its_own_room)
    assert set(members) == {('planned', 'lost'), ('lost', 'planned')}


@pytest.mark.parametrize('story', STORIES)
def test_no_other_edge_is_walked(story):
    members, groups = walked(story)
    assert set(members) <= set(edges(states.MEMBERS))
    assert set(groups) <= set(edges(states.GROUPS))
