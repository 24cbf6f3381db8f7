# SPDX-License-Identifier: Apache-2.0
"""Claims, releases and deletions during an update are kept."""

import pytest

from nova_holistic.engine import errors
from tests.functional.engine.process_death import ProcessKilled
from tests.functional.engine.updates import (
    ask, assert_settled, fill, held, hosts, LARGE, Meanwhile, revised, rows,
    take, update)
from tests.functional.engine.world import SMALL


@pytest.mark.parametrize('full', [False, True])
def test_a_claim_of_a_member_that_an_update_removes_is_kept(world, full):
    """With free capacity, the update succeeds. In a full cloud, it needs the
    capacity of the claimed member and is refused."""
    group = world.create(revised(nodes=1))
    built = []
    if full:
        fill(world)
    document = revised(nodes=1)
    document['members'].append({'name': 'front', 'resources': SMALL})
    del document['members'][0]

    def claimed():
        built.append(world.build(group, 'web'))

    planner = world.planner_with(
        world.table, Meanwhile(world.holds, 'put', claimed))
    record = update(world, group, document, planner)
    (row,) = built
    assert world.holds.has(row.instance_uuid, row)
    assert (record.reasons == ()) is not full
    if full:
        assert world.states(group)['web'] == 'built'
    assert_settled(world, group, 1 if full else 2)
    assert held(world, group) == sum(
        state == 'planned' for state in world.states(group).values())


def test_a_claim_of_members_that_must_move_refuses_the_update(world):
    group = world.create(revised(nodes=2, policies=[
        {'type': 'affinity', 'level': 'host'}]))
    at = hosts(world, group)['db/node-0']
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: [
            world.build(group, path) for path in rows(world, group)
            if path.startswith('db')]))
    refused = update(world, group, revised(), planner)
    assert refused.reasons and refused.revision == 1
    assert {hosts(world, group)[f'db/node-{n}'] for n in (0, 1)} == {at}
    world.assert_agreement()


def test_members_released_during_an_update_stay_released(world):
    group = world.create()
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: world.lifecycle.release(
            group.uuid, ['db/node-1'])))
    document = revised(web=LARGE)
    update(world, group, document, planner)
    assert world.states(group) == {
        'web': 'planned', 'db/node-0': 'planned', 'db/node-1': 'released'}
    assert_settled(world, group, 2)


def test_a_group_deleted_during_an_update_holds_nothing(world):
    group = world.create()
    planner = world.planner_with(world.table, Meanwhile(
        world.holds, 'put', lambda: world.lifecycle.delete(group.uuid)))
    ask(world, group, revised(web=LARGE))
    with pytest.raises(errors.OwnershipLost):
        planner.perform(take(world, group))
    assert world.vcpus_used() == 0


def test_a_group_deleted_after_its_engine_died_holds_nothing(world):
    group = world.create()

    def die():
        raise ProcessKilled

    for call in ('put', 'drop'):
        planner = world.planner_with(
            world.table, Meanwhile(world.holds, call, die))
        group = world.create()
        ask(world, group, revised(web=LARGE))
        record = take(world, group)
        with pytest.raises(ProcessKilled):
            planner.perform(record)
        world.lifecycle.delete(group.uuid)
        assert world.vcpus_used() == 3
